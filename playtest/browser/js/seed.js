// Seeds every source of chance and, where the browser's own clock can't do it, the starting date.
// Runs before any code of the page, in every frame.
(() => {
  const { seed, startDate, shiftDate } = __PARAMS__;
  // sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, passes BigCrush.
  const stream = (salt) => {
    let a = seed >>> 0, b = (seed / 4294967296) >>> 0, c = salt >>> 0, d = 1;
    const next = () => {
      const t = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + t) | 0;
      return t >>> 0;
    };
    for (let i = 0; i < 15; i++) next();
    return next;
  };
  const replace = (object, name, value) => {
    const before = Object.getOwnPropertyDescriptor(object, name) || { enumerable: true, configurable: true };
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(object, name, { ...before, value, writable: true });
  };
  const numbers = stream(0x6d617468);
  replace(Math, 'random', () => (numbers() * 2097152 + (numbers() >>> 11)) / 9007199254740992);

  const bytes = stream(0x63727970);
  const fill = (view) => {
    const out = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < out.length; i++) out[i] = bytes() & 255;
    return view;
  };
  if (window.Crypto) {
    const original = Crypto.prototype.getRandomValues;
    replace(Crypto.prototype, 'getRandomValues', function getRandomValues(view) {
      original.call(this, view); // keeps the platform's own checks and errors
      return fill(view);
    });
    if (Crypto.prototype.randomUUID) {
      replace(Crypto.prototype, 'randomUUID', function randomUUID() {
        const b = fill(new Uint8Array(16));
        b[6] = (b[6] & 15) | 64;
        b[8] = (b[8] & 63) | 128;
        const hex = Array.from(b, (v) => v.toString(16).padStart(2, '0')).join('');
        return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
      });
    }
  }
  if (shiftDate) {
    const RealDate = Date, shift = startDate - RealDate.now();
    const now = () => RealDate.now() + shift;
    const Shifted = function Date(...args) {
      if (!new.target) return new RealDate(now()).toString();
      return Reflect.construct(RealDate, args.length ? args : [now()], new.target);
    };
    Shifted.prototype = RealDate.prototype;
    Object.defineProperty(RealDate.prototype, 'constructor', { value: Shifted, writable: true, configurable: true });
    for (const name of ['UTC', 'parse']) replace(Shifted, name, RealDate[name]);
    replace(Shifted, 'now', now);
    Object.defineProperty(Shifted, 'length', { value: 7 });
    window.Date = Shifted;
  }
})();
