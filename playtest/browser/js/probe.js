// What the runner reads from a page: texts (DOM and 2D canvas), WebGL contexts, workers, and pointer facts.
// It draws nothing, adds nothing to the document and keeps its state in this closure. One function is left
// on the window under a key that differs from roll to roll.
(() => {
  const KEY = __PARAMS__.key;
  const nativeFrame = window.requestAnimationFrame.bind(window), nativeTimeout = window.setTimeout.bind(window);
  const MAX_TEXTS = 300, MAX_CHARS = 200, SHADOW = 5;
  const facts = { webgl: 0, lost: 0, readback: false, workers: [], pointercancel: 0, gamepad: 0, audioWaiting: 0, contexts: 0, frames: 0 };
  const keep = (object, name, make) => {
    const found = object && Object.getOwnPropertyDescriptor(object, name);
    if (!found || typeof found.value !== 'function') return;
    const value = make(found.value);
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(value, 'length', { value: found.value.length });
    Object.defineProperty(object, name, { ...found, value });
  };

  const guard = (action) => { try { action(); } catch { /* a probe never breaks the page that it reads */ } };

  // --- texts on 2D canvases: kept until something opaque is painted over their middle -------------------
  const drawn = new Map(); // WeakRef to a canvas -> entries; entries are in the canvas's own pixels
  const refs = new WeakMap();
  const entriesOf = (canvas, create) => {
    let ref = refs.get(canvas);
    if (!ref) {
      if (!create) return null;
      refs.set(canvas, (ref = new WeakRef(canvas)));
      drawn.set(ref, []);
    }
    return drawn.get(ref);
  };
  const box = (m, x, y, w, h) => {
    const xs = [], ys = [];
    for (const [px, py] of [[x, y], [x + w, y], [x, y + h], [x + w, y + h]]) {
      xs.push(m.a * px + m.c * py + m.e);
      ys.push(m.b * px + m.d * py + m.f);
    }
    const left = Math.min(...xs), top = Math.min(...ys);
    return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
  };
  const erase = (canvas, [x, y, w, h]) => {
    const entries = entriesOf(canvas);
    if (!entries || !entries.length) return;
    for (let i = entries.length - 1; i >= 0; i--) {
      const [ex, ey, ew, eh] = entries[i].box, cx = ex + ew / 2, cy = ey + eh / 2;
      if (cx >= x && cx <= x + w && cy >= y && cy <= y + h) entries.splice(i, 1);
    }
  };
  const sheer = new WeakSet(); // gradients that let through what is below
  keep(window.CanvasGradient && CanvasGradient.prototype, 'addColorStop', (add) => function (at, colour) {
    guard(() => { if (/^transparent$|^#(...|.{6})[0-9a-d]|[,/]\s*(0|0?\.[0-8]\d*|[0-8]?\d%)\s*\)$/i.test(colour)) sheer.add(this); });
    return add.apply(this, arguments);
  });
  const opaque = (c) => {
    if (c.globalAlpha < 0.9 || c.globalCompositeOperation !== 'source-over') return false;
    const style = c.fillStyle;
    if (typeof style !== 'string') return !sheer.has(style);
    if (!style.startsWith('rgba')) return true;
    return parseFloat(style.slice(style.lastIndexOf(',') + 1)) >= 0.9;
  };
  const note = (c, text, x, y, maxWidth) => {
    text = String(text);
    if (!text.trim() || c.globalAlpha < 0.05) return;
    const measure = c.measureText(text.slice(0, MAX_CHARS));
    const size = parseFloat((/(\d+(?:\.\d+)?)px/.exec(c.font) || [0, 10])[1]);
    let width = measure.width;
    if (typeof maxWidth === 'number' && maxWidth < width) width = maxWidth;
    const align = { center: width / 2, right: width, end: width }[c.textAlign] || 0;
    const rise = { top: 0, hanging: 0, middle: size / 2, bottom: size }[c.textBaseline] ?? size * 0.8;
    const entries = entriesOf(c.canvas, true);
    const at = box(c.getTransform(), x - align, y - rise, width, size);
    text = text.slice(0, MAX_CHARS);
    const same = entries.findIndex((e) => {
      const near = e.text === text ? SHADOW : 1; // a text redrawn in its place, its outline, its shadow
      return Math.abs(e.box[0] - at[0]) < near && Math.abs(e.box[1] - at[1]) < near;
    });
    if (same >= 0) entries.splice(same, 1);
    entries.push({ text, box: at });
    if (entries.length > MAX_TEXTS) entries.shift();
  };
  const copyTexts = (c, source, args) => {
    const from = source.getContext && entriesOf(source);
    if (!from || !from.length || source === c.canvas) return;
    let [sx, sy, sw, sh, dx, dy, dw, dh] = [0, 0, source.width, source.height, args[0], args[1], args[2], args[3]];
    if (args.length >= 8) [sx, sy, sw, sh, dx, dy, dw, dh] = args;
    dw ??= sw;
    dh ??= sh;
    const m = c.getTransform(), entries = entriesOf(c.canvas, true);
    for (const entry of from) {
      const [x, y, w, h] = entry.box;
      if (x + w / 2 < sx || x + w / 2 > sx + sw || y + h / 2 < sy || y + h / 2 > sy + sh) continue;
      const kx = dw / sw, ky = dh / sh;
      entry.shown = true; // told where it was copied to
      entries.push({ text: entry.text, box: box(m, dx + (x - sx) * kx, dy + (y - sy) * ky, w * kx, h * ky) });
      if (entries.length > MAX_TEXTS) entries.shift();
    }
  };
  for (const Context of [window.CanvasRenderingContext2D, window.OffscreenCanvasRenderingContext2D]) {
    if (!Context) continue;
    const P = Context.prototype;
    for (const name of ['fillText', 'strokeText']) {
      keep(P, name, (draw) => function (text, x, y, maxWidth) {
        const result = draw.apply(this, arguments);
        guard(() => note(this, text, x, y, maxWidth));
        return result;
      });
    }
    keep(P, 'clearRect', (clear) => function (x, y, w, h) {
      guard(() => entriesOf(this.canvas) && erase(this.canvas, box(this.getTransform(), x, y, w, h)));
      return clear.apply(this, arguments);
    });
    keep(P, 'fillRect', (fill) => function (x, y, w, h) {
      guard(() => entriesOf(this.canvas) && opaque(this) && erase(this.canvas, box(this.getTransform(), x, y, w, h)));
      return fill.apply(this, arguments);
    });
    keep(P, 'reset', (reset) => function () {
      guard(() => entriesOf(this.canvas) && (entriesOf(this.canvas).length = 0));
      return reset.apply(this, arguments);
    });
    keep(P, 'drawImage', (draw) => function (source, ...args) {
      const result = draw.apply(this, arguments);
      guard(() => {
        isRead(source);
        const place = args.length >= 8 ? args.slice(4) : args;
        if (entriesOf(this.canvas) && this.globalAlpha >= 0.9) {
          const w = place[2] ?? source.width ?? 0, h = place[3] ?? source.height ?? 0;
          if (w * h >= 0.5 * this.canvas.width * this.canvas.height) {
            erase(this.canvas, box(this.getTransform(), place[0], place[1], w, h)); // a background, not a sprite
          }
        }
        copyTexts(this, source, args);
      });
      return result;
    });
  }
  const nativeContext = HTMLCanvasElement.prototype.getContext;
  for (const Canvas of [window.HTMLCanvasElement, window.OffscreenCanvas]) {
    if (!Canvas) continue;
    for (const side of ['width', 'height']) {
      const found = Object.getOwnPropertyDescriptor(Canvas.prototype, side);
      if (!found || !found.set) continue;
      Object.defineProperty(Canvas.prototype, side, { ...found, set(value) {
        found.set.call(this, value); // setting a side clears a canvas, even to the same value
        guard(() => { const entries = entriesOf(this); if (entries) entries.length = 0; });
      } });
    }
  }

  // --- WebGL: blind frames skip draws that nobody will look at -------------------------------------------
  // Only where the next frame draws anew: in a context that keeps no pixels and has drawn in every frame of late.
  const hasWebGL = new WeakSet(), keepsBuffer = new WeakMap(), target = new WeakMap(), rhythm = new WeakMap();
  const STEADY_FRAMES = 4, LONGEST_GAP_MS = 40;
  let blind = false, owing = 0; // contexts whose last draw was skipped
  const drawsSteadily = (context) => {
    let found = rhythm.get(context);
    if (!found) rhythm.set(context, (found = { at: -Infinity, frames: 0, owed: false }));
    const now = document.timeline.currentTime;
    if (now !== found.at) {
      found.frames = now - found.at < LONGEST_GAP_MS ? found.frames + 1 : 0;
      found.at = now;
    }
    return found.frames >= STEADY_FRAMES;
  };
  const skipped = (context) => {
    if (target.get(context) || keepsBuffer.get(context) !== false || facts.readback) return false;
    const skip = drawsSteadily(context) && blind, found = rhythm.get(context);
    owing += skip - found.owed;
    found.owed = skip;
    return skip;
  };
  const isRead = (source) => { if (source && hasWebGL.has(source)) facts.readback = true; };
  for (const Canvas of [window.HTMLCanvasElement, window.OffscreenCanvas]) {
    keep(Canvas && Canvas.prototype, 'getContext', (get) => function (kind) {
      const context = get.apply(this, arguments);
      if (context) facts.contexts++;
      if (context && String(kind).includes('webgl') && !hasWebGL.has(this)) {
        hasWebGL.add(this);
        facts.webgl++;
        guard(() => keepsBuffer.set(context, context.getContextAttributes().preserveDrawingBuffer));
        if (this.addEventListener) this.addEventListener('webglcontextlost', () => { facts.lost++; });
      }
      // A canvas that has another context already gives none either: a fresh one tells.
      if (!context && String(kind).includes('webgl')) facts.noWebgl = !nativeContext.call(document.createElement('canvas'), kind);
      return context;
    });
    for (const read of ['toDataURL', 'toBlob', 'captureStream', 'transferToImageBitmap']) {
      keep(Canvas && Canvas.prototype, read, (call) => function () {
        isRead(this);
        return call.apply(this, arguments);
      });
    }
  }
  for (const Context of [window.WebGLRenderingContext, window.WebGL2RenderingContext]) {
    if (!Context) continue;
    const P = Context.prototype;
    keep(P, 'bindFramebuffer', (bind) => function (where, buffer) {
      if (where === 0x8d40 || where === 0x8ca9) target.set(this, buffer); // FRAMEBUFFER, DRAW_FRAMEBUFFER
      return bind.apply(this, arguments);
    });
    keep(P, 'readPixels', (read) => function () {
      if (!target.get(this)) facts.readback = true;
      return read.apply(this, arguments);
    });
    for (const name of ['texImage2D', 'texSubImage2D', 'texImage3D', 'texSubImage3D']) {
      keep(P, name, (upload) => function (...args) {
        isRead(args[args.length - 1]);
        return upload.apply(this, args);
      });
    }
    const draws = ['drawArrays', 'drawElements', 'drawArraysInstanced', 'drawElementsInstanced', 'drawRangeElements', 'clear'];
    for (const name of draws) {
      keep(P, name, (draw) => function () {
        return skipped(this) ? undefined : draw.apply(this, arguments);
      });
    }
  }

  keep(window, 'createImageBitmap', (make) => function (source) {
    isRead(source);
    return make.apply(this, arguments);
  });

  // --- facts about what the page uses ---------------------------------------------------------------------
  for (const name of ['Worker', 'SharedWorker']) {
    const Original = window[name];
    if (!Original) continue;
    window[name] = new Proxy(Original, { construct(made, args, newTarget) {
      if (facts.workers.length < 20) facts.workers.push(name + ' ' + String(args[0]).slice(0, 120));
      return Reflect.construct(made, args, newTarget);
    } });
  }
  for (const name of ['requestAnimationFrame', 'webkitRequestAnimationFrame']) {
    keep(window, name, (request) => function (callback) {
      facts.frames++;
      return request.apply(this, arguments);
    });
  }
  addEventListener('pointercancel', () => { facts.pointercancel++; }, { capture: true, passive: true });
  keep(window.Navigator && Navigator.prototype, 'getGamepads', (get) => function () {
    facts.gamepad++;
    return get.apply(this, arguments);
  });

  keep(window.Element && Element.prototype, 'requestPointerLock', (lock) => function () {
    facts.pointerLock = true;
    return lock.apply(this, arguments);
  });
  keep(window.AudioContext && AudioContext.prototype, 'resume', (resume) => function () {
    const done = resume.apply(this, arguments), over = () => { facts.audioWaiting--; };
    facts.audioWaiting++;
    done.then(over, over);
    return done;
  });

  // --- texts in the document ------------------------------------------------------------------------------
  const TAPPABLE = 'button,a[href],[onclick],[role=button],input,select,summary,label';
  const WORDLESS = /^(checkbox|radio|range|color|file|image|hidden)$/;
  const seen = (element) => !element.checkVisibility ||
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  const domTexts = (root, out) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node && out.length < MAX_TEXTS; node = walker.nextNode()) {
      if (node.nodeType === 1) {
        if (node.shadowRoot) domTexts(node.shadowRoot, out);
        if (/^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName) && !WORDLESS.test(node.type) && seen(node)) {
          const chosen = node.tagName === 'SELECT' && node.selectedOptions[0];
          add(out, (chosen ? chosen.text : node.value) || node.placeholder || '', node.getBoundingClientRect(), node);
        }
        continue;
      }
      const text = node.data.replace(/\s+/g, ' ').trim(), parent = node.parentElement;
      if (!text || !parent || /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TEXTAREA|OPTION|TITLE)$/.test(parent.tagName)) continue;
      if (!seen(parent) || (parent.tagName === 'DETAILS' && !parent.open)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      add(out, text, range.getBoundingClientRect(), parent);
    }
  };
  const add = (out, text, r, element) => {
    if (!text || r.width < 1 || r.height < 1) return;
    if (r.right <= 0 || r.bottom <= 0 || r.left >= innerWidth || r.top >= innerHeight) return;
    const button = element.closest(TAPPABLE);
    const tappable = !!button || getComputedStyle(element).cursor === 'pointer';
    out.push({ text: text.slice(0, MAX_CHARS), box: [r.left, r.top, r.width, r.height], source: 'dom', tappable });
  };
  const canvasTexts = (out) => {
    for (const [ref, entries] of drawn) {
      const canvas = ref.deref();
      if (!canvas) { drawn.delete(ref); continue; }
      if (canvas.isConnected && !seen(canvas)) continue;
      const placed = canvas.isConnected && canvas.width > 0 && canvas.getBoundingClientRect();
      for (const { text, shown, box: [x, y, w, h] } of entries) {
        if (out.length >= 2 * MAX_TEXTS) return;
        if (!placed) {
          if (!shown) out.push({ text, box: null, source: 'canvas', tappable: false });
          continue;
        }
        if (x + w <= 0 || y + h <= 0 || x >= canvas.width || y >= canvas.height) continue;
        const kx = placed.width / canvas.width, ky = placed.height / canvas.height;
        const at = [placed.left + x * kx, placed.top + y * ky, w * kx, h * ky];
        if (at[0] + at[2] <= 0 || at[1] + at[3] <= 0 || at[0] >= innerWidth || at[1] >= innerHeight) continue;
        out.push({ text, box: at, source: 'canvas', tappable: false });
      }
    }
  };
  // The largest canvas that is shown: its box in CSS px, and how many pixels of its own it has.
  const largestCanvas = () => {
    let best = null;
    for (const canvas of document.querySelectorAll('canvas')) {
      const r = canvas.getBoundingClientRect();
      if (!seen(canvas) || r.width * r.height <= (best ? best[2] * best[3] : 0)) continue;
      best = [r.left, r.top, r.width, r.height, canvas.width, canvas.height];
    }
    return best;
  };
  let ticks = 0;
  const probe = (what, value) => {
    if (what === 'blind') { blind = value; return null; }
    if (what === 'owing') return owing;
    if (what === 'asked') return ++facts.frames;
    if (what === 'vitals') {
      const scroll = [window.scrollX, window.scrollY];
      return { ready: document.readyState, frames: facts.frames, contexts: facts.contexts, canvas: largestCanvas(), scroll };
    }
    if (what === 'count') {
      ticks = 0;
      facts.frames--; // its own
      requestAnimationFrame(() => ticks++);
      setTimeout(() => ticks++, 50);
      return null;
    }
    if (what === 'ticks') return ticks;
    // Touches wait for a frame of the browser's own, which no page clock holds; one always comes.
    if (what === 'frame') return new Promise((done) => { nativeFrame(() => done()); nativeTimeout(done, 200); });
    if (what === 'facts') return { ...facts, title: document.title.slice(0, 200), width: document.documentElement
      ? document.documentElement.scrollWidth : 0, inner: innerWidth, viewportMeta: !!document.querySelector('meta[name=viewport]') };
    const out = [];
    guard(() => document.documentElement && domTexts(document.documentElement, out));
    guard(() => canvasTexts(out));
    return out;
  };
  Object.defineProperty(window, KEY, { value: probe });
})();
