// Only for the clock `frames`: what time a page is told. While it boots none passes, whatever the machine needs to load
// it: timers wait in a queue, and the clocks stand at the start. `begin` starts them all at one instant. After that
// times are counted from there, as a document's own origin is the machine's even under virtual time.
(() => {
  const { key, startDate } = __PARAMS__;
  const realNow = performance.now, RealDate = Date, dateNow = RealDate.now;
  let booting = true, base = 0, firstDate = startDate;
  const rebased = (t) => (typeof t !== 'number' ? t : booting ? 0 : Math.round((t - base) * 200) / 200);
  // No time passes within a task, so who waits for it in a loop would wait for ever: after so many readings at one
  // instant each further one is told a ms more, and time goes on from there.
  const PATIENCE = 20000;
  let instant = -1, readings = 0, reached = 0;
  const now = () => {
    const real = rebased(realNow.call(performance));
    if (real !== instant) { instant = real; readings = 0; } else if (++readings > PATIENCE) reached = Math.max(reached, real) + 1;
    return Math.max(real, reached);
  };
  const replace = (object, name, value) => {
    const before = Object.getOwnPropertyDescriptor(object, name) || { enumerable: true, configurable: true };
    Object.defineProperty(value, 'name', { value: name });
    if (before.value) Object.defineProperty(value, 'length', { value: before.value.length });
    Object.defineProperty(object, name, { ...before, value, writable: true });
  };
  const readable = (prototype, name, wrap) => {
    const found = prototype && Object.getOwnPropertyDescriptor(prototype, name);
    if (!found || !found.get) return null;
    Object.defineProperty(prototype, name, { ...found, get() { return wrap(found.get.call(this), this); } });
    return found;
  };

  // --- clocks ---------------------------------------------------------------------------------------------
  replace(Performance.prototype, 'now', function () { return now(); });
  readable(Performance.prototype, 'timeOrigin', () => firstDate);
  const date = () => Math.floor(firstDate + now() + 0.001);
  const Page = function (...args) {
    if (!new.target) return new RealDate(date()).toString();
    return Reflect.construct(RealDate, args.length ? args : [date()], new.target);
  };
  Page.prototype = RealDate.prototype;
  Object.defineProperty(RealDate.prototype, 'constructor', { value: Page, writable: true, configurable: true });
  for (const name of ['UTC', 'parse']) replace(Page, name, RealDate[name]);
  replace(Page, 'now', date);
  replace(window, 'Date', Page);
  Object.defineProperty(Page, 'length', { value: 7 });

  // An input event carries the machine's time; the page gets it at the game time at which it is first asked.
  const times = new WeakMap(), weakGet = WeakMap.prototype.get, weakSet = WeakMap.prototype.set, UI = window.UIEvent;
  readable(Event.prototype, 'timeStamp', (t, event) => {
    if (!event.isTrusted || !(event instanceof UI)) return rebased(t);
    let time = weakGet.call(times, event);
    if (time === undefined) weakSet.call(times, event, (time = now()));
    return time;
  });
  // A frame's own time stands off the page's by some ms, other ones in each run.
  for (const name of ['requestAnimationFrame', 'webkitRequestAnimationFrame']) {
    const request = window[name];
    if (request) replace(window, name, (callback) => request.call(window, () => callback(now())));
  }
  const Timelines = window.AnimationTimeline && AnimationTimeline.prototype;
  const timeline = readable(Timelines, 'currentTime', (t) => (typeof t === 'number' ? now() : t));
  const lead = () => timeline.get.call(document.timeline) - now();
  const start = readable(window.Animation && Animation.prototype, 'startTime', (t) => (typeof t === 'number' ? t - lead() : t));
  if (start) {
    const found = Object.getOwnPropertyDescriptor(Animation.prototype, 'startTime');
    Object.defineProperty(Animation.prototype, 'startTime', { ...found, set(value) {
      start.set.call(this, typeof value === 'number' ? value + lead() : value);
    } });
  }

  // --- timers ---------------------------------------------------------------------------------------------
  const queue = new Map(), ids = new Map();
  let lastId = 1e9;
  for (const name of ['setTimeout', 'setInterval']) {
    const set = window[name];
    replace(window, name, function (...args) {
      if (!booting) return set.apply(window, args);
      queue.set(++lastId, [set, args]);
      return lastId;
    });
  }
  for (const name of ['clearTimeout', 'clearInterval']) {
    const clear = window[name];
    replace(window, name, function (id) {
      if (!queue.delete(id)) clear.call(window, ids.get(id) ?? id);
    });
  }
  // Between frames that are issued one by one there is no idle time of the browser's own.
  if (window.requestIdleCallback) {
    replace(window, 'requestIdleCallback', (callback) => setTimeout(() => callback({ didTimeout: false, timeRemaining: () => 10 }), 1));
    replace(window, 'cancelIdleCallback', (id) => clearTimeout(id));
  }
  Object.defineProperty(window, key, { value: () => {
    if (!booting) return;
    base = realNow.call(performance);
    firstDate = dateNow();
    booting = false;
    for (const [id, [set, args]] of queue) ids.set(id, set.apply(window, args));
    queue.clear();
  } });
})();
