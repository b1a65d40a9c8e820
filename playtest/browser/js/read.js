// Walks a path from the window and copies what is there as plain JSON. Nothing is written.
(steps) => {
  const MAX_DEPTH = 10, MAX_KEYS = 300, MAX_ITEMS = 1000, MAX_CHARS = 500, MAX_NODES = 20000;
  const told = (at) => steps.slice(0, at + 1).map((s, i) =>
    s === null ? '()' : typeof s === 'number' ? `[${s}]` : (i ? '.' : '') + s).join('');
  const root = () => { try { return __FIRST__; } catch { return undefined; } };
  let nodes = 0;
  const plain = (value, depth, above) => {
    if (++nodes > MAX_NODES) return '[too much]';
    switch (typeof value) {
      case 'number': return Number.isFinite(value) ? value : String(value);
      case 'string': return value.slice(0, MAX_CHARS);
      case 'bigint': return String(value);
      case 'symbol': return '[symbol]';
      case 'object': break;
      case 'boolean': return value;
      default: return undefined; // functions are left out
    }
    if (value === null) return null;
    if (above.includes(value)) return '[cycle]';
    if (depth >= MAX_DEPTH) return '[too deep]';
    if (typeof Node === 'function' && value instanceof Node) return `[${value.nodeName}]`;
    if (value === value.window || value instanceof Promise) return `[${Object.prototype.toString.call(value).slice(8, -1)}]`;
    if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : 'Invalid Date';
    const within = [...above, value];
    const list = Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value) || value instanceof Set;
    if (list) {
      const items = Array.from(value).slice(0, MAX_ITEMS);
      return items.map((item) => plain(item, depth + 1, within) ?? null);
    }
    const out = Object.create(null);
    const entries = value instanceof Map ? Array.from(value, ([k, v]) => [String(k), () => v])
      : keysOf(value).map((k) => [k, () => value[k]]);
    for (const [key, get] of entries.slice(0, MAX_KEYS)) {
      let item;
      try { item = plain(get(), depth + 1, within); } catch (error) { item = `[throws ${error}]`.slice(0, MAX_CHARS); }
      if (item !== undefined) Object.defineProperty(out, key, { value: item, enumerable: true });
    }
    return out;
  };
  // Own keys, and the getters of its class: a game's state may be an instance that tells by them.
  const keysOf = (object) => {
    const keys = Object.keys(object);
    for (let p = Object.getPrototypeOf(object); p && p !== Object.prototype; p = Object.getPrototypeOf(p)) {
      for (const [key, found] of Object.entries(Object.getOwnPropertyDescriptors(p))) {
        if (found.get && key !== '__proto__' && !keys.includes(key)) keys.push(key);
      }
    }
    return keys;
  };
  let value = root(), owner;
  if (value === undefined) value = window[__NAME__];
  try {
    for (let at = 1; at < steps.length; at++) {
      if (value === undefined || value === null) return { problem: `${told(at - 1)} is ${value}` };
      if (steps[at] === null) {
        if (typeof value !== 'function') return { problem: `${told(at - 1)} is no function` };
        value = value.call(owner);
        owner = undefined;
      } else {
        owner = value;
        value = value[steps[at]];
      }
    }
    if (value === undefined) return { problem: `${told(steps.length - 1)} is undefined` };
    const copy = plain(value, 0, []);
    return copy === undefined ? { problem: `${told(steps.length - 1)} is a ${typeof value}` } : { json: JSON.stringify(copy) };
  } catch (error) {
    return { problem: `${told(steps.length - 1)} throws ${error}` };
  }
}
