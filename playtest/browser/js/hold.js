// Only for the clock `js`, after Playwright's page clock: what that clock leaves undone. CSS animations and SVG stand
// still between advances, and an error in a timer's callback is the page's own and not the driver's.
(() => {
  const { key, probe } = __PARAMS__;
  const report = window.reportError.bind(window);
  for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame', 'requestIdleCallback']) {
    const set = window[name];
    if (typeof set !== 'function') continue;
    const value = function (callback, ...rest) {
      const guarded = typeof callback !== 'function' ? callback : function () {
        try { return callback.apply(this, arguments); } catch (error) { report(error); }
      };
      if (name === 'requestAnimationFrame' && window[probe]) window[probe]('asked'); // that clock's own, not the browser's
      return set.call(window, guarded, ...rest);
    };
    Object.defineProperty(value, 'name', { value: name });
    window[name] = value;
  }

  // No time passes within a task, so who waits for it in a loop would wait for ever: after so many readings at one
  // instant each further one is told a ms more, and time goes on from there.
  const PATIENCE = 20000, pageNow = performance.now, PageDate = Date;
  let instant = -1, readings = 0, reached = 0;
  const ahead = () => {
    const real = pageNow.call(performance);
    if (real !== instant) { instant = real; readings = 0; } else if (++readings > PATIENCE) reached = Math.max(reached, real) + 1;
    return Math.max(0, reached - real);
  };
  const replace = (object, name, value) => {
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(object, name, { configurable: true, writable: true, value });
  };
  replace(performance, 'now', () => pageNow.call(performance) + ahead());
  const date = () => PageDate.now() + ahead();
  const Patient = function (...args) {
    if (!new.target) return new PageDate(date()).toString();
    return Reflect.construct(PageDate, args.length ? args : [date()], new.target);
  };
  Patient.prototype = PageDate.prototype;
  Object.defineProperty(PageDate.prototype, 'constructor', { value: Patient, writable: true, configurable: true });
  for (const name of ['UTC', 'parse']) replace(Patient, name, PageDate[name]);
  replace(Patient, 'now', date);
  replace(window, 'Date', Patient);
  Object.defineProperty(Patient, 'length', { value: 7 });

  // An animation that runs costs frames even at a rate of zero, so each is paused, and moved by hand. The page is
  // told that it runs.
  const held = new WeakSet(), P = Animation.prototype;
  const state = Object.getOwnPropertyDescriptor(P, 'playState'), pause = P.pause;
  const pausedByStyle = (animation) => {
    if (!(animation instanceof CSSAnimation) || !animation.effect || !animation.effect.target) return false;
    const style = getComputedStyle(animation.effect.target, animation.effect.pseudoElement);
    const at = style.animationName.split(', ').indexOf(animation.animationName);
    const states = style.animationPlayState.split(', ');
    return at >= 0 && states[at % states.length] === 'paused';
  };
  const stateOf = (animation) => {
    const found = state.get.call(animation);
    if (found !== 'paused' || !held.has(animation)) return found;
    return pausedByStyle(animation) ? 'paused' : 'running';
  };
  Object.defineProperty(P, 'playState', { ...state, get() { return stateOf(this); } });
  for (const name of ['pause', 'play', 'cancel']) {
    const call = P[name];
    P[name] = function () { held.delete(this); return call.apply(this, arguments); };
  }
  const step = (animation, ms) => {
    if (typeof animation.currentTime !== 'number' || stateOf(animation) !== 'running') return;
    const rate = animation.playbackRate, at = animation.currentTime + ms * rate;
    const end = animation.effect ? animation.effect.getComputedTiming().endTime : Infinity;
    if (rate > 0 ? at >= end : at <= 0) {
      held.delete(animation);
      animation.finish();
      return;
    }
    if (state.get.call(animation) === 'running') {
      pause.call(animation);
      held.add(animation);
    }
    animation.currentTime = at;
  };
  Object.defineProperty(window, key, { value: (ms) => {
    for (const animation of document.getAnimations()) step(animation, ms);
    for (const svg of document.querySelectorAll('svg')) {
      if (svg.ownerSVGElement) continue;
      svg.pauseAnimations();
      svg.setCurrentTime(svg.getCurrentTime() + ms / 1000);
    }
  } });
})();
