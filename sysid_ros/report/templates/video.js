"use strict";
(() => {
  // The animation can be stopped, and begins stopped for those who asked for less motion.
  const button = document.getElementById("play");
  if (!button) return;
  const animation = document.getElementById("animation");
  const still = document.getElementById("still");

  function pause(paused) {
    if (paused) still.getContext("2d").drawImage(animation, 0, 0); // its first picture
    still.hidden = !paused;
    animation.style.visibility = paused ? "hidden" : "visible";
    button.textContent = paused ? "Play" : "Pause";
    button.setAttribute("aria-pressed", String(paused));
  }

  button.hidden = false;
  button.addEventListener("click", () => pause(still.hidden));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (calm) animation.decode().then(() => pause(true), () => {});
})();
