/** The style sheet of the components. `PosternProvider` adds it once, unless it has `styles={false}`.
 *
 * The custom properties are set without specificity, so that a rule of the application for `.postern` wins. */
export const STYLES = `
:where(.postern) {
  --postern-paper: #fff; --postern-hover: #f3f5f6; --postern-line: #e2e7e9; --postern-border: #cfd7da;
  --postern-ink: #111a1c; --postern-muted: #5a6567; --postern-accent: #0d6472; --postern-on-accent: #fff;
  --postern-focus: #0d6472; --postern-shadow: 0 0 0 1px rgb(17 26 28 / .06), 0 4px 8px -2px rgb(17 26 28 / .08),
    0 16px 36px -8px rgb(17 26 28 / .2);
}
.postern {
  color-scheme: light; position: relative; display: inline-block; box-sizing: border-box;
  font: 14px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--postern-ink); text-align: start;
}
.postern[data-theme="dark"] { color-scheme: dark; }
:where(.postern[data-theme="dark"]) {
  --postern-paper: #161c1e; --postern-hover: #222b2d; --postern-line: #2a3336; --postern-border: #3c474a;
  --postern-ink: #eef3f4; --postern-muted: #9aa6a9; --postern-accent: #5cb6c6; --postern-on-accent: #061c21;
  --postern-focus: #8ad4e0; --postern-shadow: 0 0 0 1px rgb(255 255 255 / .09), 0 16px 40px -8px rgb(0 0 0 / .7);
}
@media (prefers-color-scheme: dark) {
  .postern[data-theme="auto"] { color-scheme: dark; }
  :where(.postern[data-theme="auto"]) {
    --postern-paper: #161c1e; --postern-hover: #222b2d; --postern-line: #2a3336; --postern-border: #3c474a;
    --postern-ink: #eef3f4; --postern-muted: #9aa6a9; --postern-accent: #5cb6c6; --postern-on-accent: #061c21;
    --postern-focus: #8ad4e0; --postern-shadow: 0 0 0 1px rgb(255 255 255 / .09), 0 16px 40px -8px rgb(0 0 0 / .7);
  }
}
.postern *, .postern *::before { box-sizing: border-box; }
.postern form { display: contents; }
.postern button, .postern a { margin: 0; font: inherit; text-align: inherit; text-decoration: none; cursor: pointer;
  -webkit-tap-highlight-color: transparent; }
.postern :focus-visible { outline: 2px solid var(--postern-focus); outline-offset: 2px; }
.postern .postern-button { display: inline-flex; align-items: center; justify-content: center; min-height: 36px;
  padding: 7px 14px; font-weight: 600; line-height: 20px; white-space: nowrap; color: var(--postern-ink);
  background: var(--postern-paper); border: 1px solid var(--postern-border); border-radius: 8px;
  box-shadow: 0 1px 2px rgb(17 26 28 / .05); transition: background-color .12s, filter .12s; }
.postern .postern-button:hover { background: var(--postern-hover); }
.postern .postern-button[data-kind="primary"] { color: var(--postern-on-accent); background: var(--postern-accent);
  border-color: transparent; }
.postern .postern-button[data-kind="primary"]:hover { filter: brightness(1.1); }
.postern-wide.postern { display: block; }
.postern .postern-banner { display: flex; flex-wrap: wrap; align-items: center; justify-content: center; gap: 8px 16px;
  padding: 8px 16px; color: #3d2a00; background: #ffe2a3; border-block-end: 1px solid #d69a12; }
.postern .postern-banner p { min-width: 0; margin: 0; overflow-wrap: anywhere; }
.postern .postern-banner .postern-button { min-height: 32px; padding: 5px 12px; color: #3d2a00; background: #fff7e6;
  border-color: #a06f00; }
.postern .postern-banner .postern-button:hover { background: #fff; }
.postern .postern-banner :focus-visible { outline-color: #3d2a00; }
.postern[data-theme="dark"] .postern-banner { color: #ffe2a3; background: #3a2a08; border-color: #7a5710; }
.postern[data-theme="dark"] .postern-banner .postern-button { color: #ffe2a3; background: #241a05; border-color: #b88a2b; }
.postern[data-theme="dark"] .postern-banner .postern-button:hover { background: #100b02; }
.postern[data-theme="dark"] .postern-banner :focus-visible { outline-color: #ffe2a3; }
@media (prefers-color-scheme: dark) {
  .postern[data-theme="auto"] .postern-banner { color: #ffe2a3; background: #3a2a08; border-color: #7a5710; }
  .postern[data-theme="auto"] .postern-banner .postern-button { color: #ffe2a3; background: #241a05; border-color: #b88a2b; }
  .postern[data-theme="auto"] .postern-banner .postern-button:hover { background: #100b02; }
  .postern[data-theme="auto"] .postern-banner :focus-visible { outline-color: #ffe2a3; }
}
.postern .postern-avatar { display: inline-grid; flex: none; place-items: center; width: 32px; height: 32px;
  font-size: 12px; font-weight: 600; line-height: 1; letter-spacing: .02em; color: #fff; border-radius: 50%;
  background: linear-gradient(140deg, hsl(var(--postern-hue) 55% 50%), hsl(calc(var(--postern-hue) + 12) 60% 33%));
  user-select: none; }
.postern .postern-avatar[data-shape="square"] { width: 24px; height: 24px; font-size: 11px; border-radius: 6px; }
.postern .postern-avatar[data-size="large"] { width: 40px; height: 40px; font-size: 15px; }
.postern .postern-avatar[data-shape="square"][data-size="large"] { width: 32px; height: 32px; font-size: 13px;
  border-radius: 8px; }
.postern .postern-avatar[data-hue="0"] { --postern-hue: 188; }
.postern .postern-avatar[data-hue="1"] { --postern-hue: 222; }
.postern .postern-avatar[data-hue="2"] { --postern-hue: 268; }
.postern .postern-avatar[data-hue="3"] { --postern-hue: 332; }
.postern .postern-avatar[data-hue="4"] { --postern-hue: 14; }
.postern .postern-avatar[data-hue="5"] { --postern-hue: 152; }
.postern .postern-avatar[data-hue="none"] { color: var(--postern-muted); background: var(--postern-hover);
  box-shadow: inset 0 0 0 1px var(--postern-line); }
.postern .postern-round { display: inline-flex; padding: 0; background: none; border: 0; border-radius: 50%;
  transition: box-shadow .12s; }
.postern .postern-round:hover, .postern .postern-round[aria-expanded="true"] { box-shadow: 0 0 0 4px var(--postern-hover); }
.postern .postern-select { display: inline-flex; align-items: center; gap: 8px; max-width: 240px; min-height: 36px;
  padding: 5px 8px 5px 6px; font-weight: 600; color: inherit; background: none; border: 1px solid transparent;
  border-radius: 8px; transition: background-color .12s; }
.postern .postern-select:hover, .postern .postern-select[aria-expanded="true"] { background: var(--postern-hover); }
.postern .postern-name { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.postern .postern-icon { flex: none; width: 16px; height: 16px; color: var(--postern-muted); }
.postern .postern-menu { position: absolute; z-index: 1000; top: calc(100% + 8px); width: 320px;
  max-width: calc(100vw - 24px); max-height: min(480px, 80vh); overflow: auto; overscroll-behavior: contain; padding: 6px;
  background: var(--postern-paper); border-radius: 14px; box-shadow: var(--postern-shadow); outline: none;
  animation: postern-appear .12s ease-out; }
.postern .postern-menu[data-align="end"] { inset-inline-end: 0; }
.postern .postern-menu[data-align="start"] { inset-inline-start: 0; }
@keyframes postern-appear { from { opacity: 0; transform: translateY(-4px) scale(.985); } }
@media (prefers-reduced-motion: reduce) { .postern .postern-menu { animation: none; } .postern * { transition: none; } }
.postern .postern-head { display: flex; align-items: center; gap: 12px; padding: 12px; }
.postern .postern-texts { display: grid; min-width: 0; flex: 1; }
.postern .postern-title { overflow: hidden; font-weight: 600; text-overflow: ellipsis; white-space: nowrap; }
.postern .postern-detail { overflow: hidden; font-size: 13px; font-weight: 400; color: var(--postern-muted); text-overflow: ellipsis;
  white-space: nowrap; }
.postern .postern-label { padding: 8px 12px 4px; font-size: 12px; font-weight: 600; color: var(--postern-muted); }
.postern .postern-line { height: 1px; margin: 6px -6px; background: var(--postern-line); border: 0; }
.postern .postern-item { display: flex; align-items: center; gap: 12px; width: 100%; min-height: 40px; padding: 8px 12px;
  color: var(--postern-ink); background: none; border: 0; border-radius: 9px; }
.postern .postern-item:hover, .postern .postern-item:focus { background: var(--postern-hover); }
.postern .postern-item:focus-visible { outline-offset: -2px; }
.postern .postern-check { color: var(--postern-accent); }
`;
