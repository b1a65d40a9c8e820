"use strict";
(() => {
  const steps = [...document.querySelectorAll(".step")];
  const views = ["view-both", "view-clean", "view-ruled"].map((id) => document.getElementById(id)).filter(Boolean);
  const keys = document.querySelector(".keys");
  if (keys && steps.length) keys.hidden = false;
  const nearest = () => {
    const line = window.innerHeight / 3;
    return steps.findLastIndex((step) => step.getBoundingClientRect().top <= line);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "v" && views.length) {
      views[(views.findIndex((view) => view.checked) + 1) % views.length].checked = true;
    }
    const way = { j: 1, k: -1 }[event.key];
    if (!way || !steps.length) return;
    const current = steps.indexOf(document.activeElement.closest(".step"));
    const next = steps[Math.min(steps.length - 1, Math.max(0, (current < 0 ? nearest() : current) + way))];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
  });
})();
