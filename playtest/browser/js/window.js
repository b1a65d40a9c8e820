// Only for the clock `frames`: what a page asks of its window. There is none, and where the browser waits for it no frame
// comes any more. The screen is full already, so the page is only told so; moving and pickers do nothing, as on a phone.
(() => {
  let shown = null;
  const tell = (element) => requestAnimationFrame(() => {
    for (const name of ['fullscreenchange', 'webkitfullscreenchange']) {
      (element.isConnected ? element : document).dispatchEvent(new Event(name, { bubbles: true, composed: true }));
    }
  });
  const replace = (object, names, value) => {
    for (const name of names) {
      const found = Object.getOwnPropertyDescriptor(object, name);
      if (found && 'value' in found) Object.defineProperty(object, name, { ...found, value });
    }
  };
  replace(Element.prototype, ['requestFullscreen', 'webkitRequestFullscreen', 'webkitRequestFullScreen'], function requestFullscreen() {
    shown = this;
    tell(this);
    return Promise.resolve();
  });
  replace(Document.prototype, ['exitFullscreen', 'webkitExitFullscreen', 'webkitCancelFullScreen'], function exitFullscreen() {
    if (!shown) return Promise.reject(new TypeError('Document not active'));
    const left = shown;
    shown = null;
    tell(left);
    return Promise.resolve();
  });
  for (const name of ['resizeTo', 'resizeBy', 'moveTo', 'moveBy']) replace(window, [name], () => {});
  if (window.HTMLInputElement) replace(HTMLInputElement.prototype, ['showPicker'], () => {});
  const answer = (names, get) => {
    for (const name of names) {
      const found = Object.getOwnPropertyDescriptor(Document.prototype, name);
      if (found && found.get) Object.defineProperty(Document.prototype, name, { ...found, get });
    }
  };
  answer(['fullscreenElement', 'webkitFullscreenElement', 'webkitCurrentFullScreenElement'], () => shown);
  answer(['fullscreen', 'webkitIsFullScreen'], () => shown !== null);
  answer(['fullscreenEnabled', 'webkitFullscreenEnabled'], () => true);
})();
