// Only where time is held: an AudioContext's time follows the page's, not the sound card's. A game that plays by its
// music then stands still with everything else.
(() => {
  const Context = window.AudioContext, Base = window.BaseAudioContext && BaseAudioContext.prototype;
  const found = Base && Object.getOwnPropertyDescriptor(Base, 'currentTime');
  if (!Context || !found || !found.get) return;
  const state = Object.getOwnPropertyDescriptor(Base, 'state').get;
  const seconds = () => performance.now() / 1000;
  // Where each context stands, and since when it runs; null while it does not.
  const kept = new WeakMap();
  const unlocked = () => !navigator.userActivation || navigator.userActivation.hasBeenActive;
  const recordOf = (context) => {
    let record = kept.get(context);
    if (!record) kept.set(context, (record = { at: 0, since: null, stopped: false }));
    // A context is said to run at a moment of the machine's choosing; what the page itself did is a better sign.
    if (record.since === null && !record.stopped && (unlocked() || state.call(context) === 'running')) record.since = seconds();
    return record;
  };
  const timeOf = (context) => {
    const record = recordOf(context);
    return record.at + (record.since === null ? 0 : seconds() - record.since);
  };
  const halt = (context) => {
    const at = timeOf(context);
    kept.set(context, { at, since: null, stopped: true });
  };
  const keep = (object, name, make) => {
    const before = Object.getOwnPropertyDescriptor(object, name);
    if (!before || typeof before.value !== 'function') return;
    const value = make(before.value);
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(value, 'length', { value: before.value.length });
    Object.defineProperty(object, name, { ...before, value });
  };
  Object.defineProperty(Base, 'currentTime', { ...found, get() {
    return this instanceof Context ? timeOf(this) : found.get.call(this);
  } });
  keep(Context.prototype, 'resume', (resume) => function () {
    if (this instanceof Context) {
      const record = recordOf(this);
      record.stopped = false;
      recordOf(this);
    }
    return resume.apply(this, arguments);
  });
  for (const name of ['suspend', 'close']) {
    keep(Context.prototype, name, (call) => function () {
      if (this instanceof Context) halt(this);
      return call.apply(this, arguments);
    });
  }
  keep(Context.prototype, 'getOutputTimestamp', () => function () {
    return { contextTime: timeOf(this), performanceTime: performance.now() };
  });
  // What is to sound at a time of the page's is scheduled as far from now as the page meant it.
  const Source = window.AudioScheduledSourceNode && AudioScheduledSourceNode.prototype;
  for (const [object, name] of [[Source, 'start'], [Source, 'stop'], [window.AudioBufferSourceNode && AudioBufferSourceNode.prototype, 'start']]) {
    if (object) keep(object, name, (call) => function (when, ...rest) {
      if (!(when > 0) || !(this.context instanceof Context)) return call.apply(this, arguments);
      const own = Math.max(0, when - timeOf(this.context) + found.get.call(this.context));
      return call.call(this, own, ...rest);
    });
  }
})();
