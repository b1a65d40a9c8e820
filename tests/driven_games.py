"""Small games, each with a PlaySpec that wins it, one for each family of drivers."""

import json

from playtest.sources import digest_of

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><style>html,body{margin:0;touch-action:none}canvas{display:block}</style>
<canvas id="c" width="390" height="844"></canvas><script>
const g = c.getContext('2d'), calls = []; let phase = 'menu', score = 0, t = 0;
function say(words, y) { g.fillStyle = '#fff'; g.font = '32px sans-serif'; g.textAlign = 'center'; g.fillText(words, 195, y); }
function back() { g.fillStyle = '#246'; g.fillRect(0, 0, 390, 844); }
"""
LOOP = "(function frame() { t++; step(); back(); paint(); requestAnimationFrame(frame); })();"
START = "addEventListener('pointerdown', e => { if (phase === 'menu') { phase = 'playing'; return; } touch(e.clientX, e.clientY); });"
BINDING = {
    "gameId": "small",
    "startRitual": {
        "inputs": [{"type": "tap", "x": 195, "y": 422}],
        "startedWhen": {"path": "phase", "op": "eq", "value": "playing"},
    },
    "observables": {
        "state": "view()", "phase": "phase", "calls": "calls", "win": {"path": "phase", "op": "eq", "value": "won"},
    },
    "progress": [{"path": "score", "op": "increased"}],
    "latch": {"dwellMs": 400},
    "expectedEngineCallPrefixes": ["audio."],
}  # fmt: skip
POINT = "function point() { if (phase !== 'playing') return; score++; calls.push('audio.blip'); if (score >= 4) phase = 'won'; }"
VIEW = "function view() { return { phase, score, next }; }"

KEYS = f"""{HEAD}{POINT}{START}
let next = 'ArrowLeft'; function touch() {{}} function step() {{}} {VIEW}
addEventListener('keydown', e => {{ if (e.key === next) {{ next = next === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft'; point(); }} }});
function paint() {{ say(phase + ' ' + score, 400); say(next, 500); }} {LOOP}</script>"""

TARGETS = f"""{HEAD}{POINT}{START}
let targets = [0, 1, 2, 3].map(n => ({{ x: 60 + 80 * n, y: 300 + 60 * n, up: n !== 2 }}));
function view() {{ return {{ phase, score, targets }}; }}
function touch(x, y) {{ const hit = targets.find(o => o.up && Math.hypot(o.x - x, o.y - y) < 25);
  if (hit) {{ hit.up = false; point(); if (score === 3) targets[2].up = true; }} }}
function step() {{}}
function paint() {{ say(phase + ' ' + score, 100); for (const o of targets) if (o.up) {{ g.fillStyle = 'gold'; g.fillRect(o.x - 20, o.y - 20, 40, 40); }} }} {LOOP}</script>"""

PADDLE = f"""{HEAD}{POINT}{START}
const ball = {{ x: 60, y: 200, dx: 4, dy: 9 }}, paddle = {{ x: 195, y: 780 }}; let down = false;
function view() {{ return {{ phase, score, ball, paddle }}; }}
function touch(x) {{ down = true; }} addEventListener('pointerup', () => down = false);
addEventListener('pointermove', e => {{ if (down) paddle.x = Math.min(345, Math.max(45, e.clientX)); }});
addEventListener('keydown', e => {{ paddle.x += e.key === 'ArrowRight' ? 24 : e.key === 'ArrowLeft' ? -24 : 0; }});
function step() {{ if (phase !== 'playing') return; ball.x += ball.dx; ball.y += ball.dy;
  if (ball.x < 10 || ball.x > 380) ball.dx *= -1; if (ball.y < 10) ball.dy = Math.abs(ball.dy);
  if (ball.y > 765) {{ if (Math.abs(ball.x - paddle.x) < 45) {{ ball.dy = -Math.abs(ball.dy); point(); }} else phase = 'lost'; }} }}
function paint() {{ say(phase + ' ' + score, 100); g.fillStyle = 'gold'; g.fillRect(ball.x - 8, ball.y - 8, 16, 16);
  g.fillRect(paddle.x - 45, 780, 90, 14); }} {LOOP}</script>"""

DRIVERS = {
    "key-cycle": (KEYS, {"driver": {"type": "key-cycle", "keys": ["ArrowLeft", "ArrowRight"]}}),
    "tap-targets": (
        TARGETS,
        {"driver": {"type": "tap-targets", "targets": "targets", "when": {"path": "up", "op": "eq", "value": True}}},
    ),
    "paddle-intercept": (
        PADDLE,
        {
            "driver": {"type": "paddle-intercept", "paddle": "paddle", "ball": "ball", "control": {"by": "pointer"}},
            "controlCheck": {"body": "paddle", "control": {"by": "pointer"}},
        },
    ),
    "input-sequence": (
        KEYS,
        {"inputs": [{"type": "key", "key": f"Arrow{way}"} for way in ("Left", "Right", "Left", "Right")]},
    ),
}


def written(folder, page, playing, **changes):
    """The game and its spec in a folder; the spec's path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page, "utf-8")
    spec = {**BINDING, **playing, **changes}
    spec["derivedFrom"] = {"sourceHash": digest_of(folder).source_hash}
    path = folder / "play-spec.json"
    path.write_text(json.dumps({key: value for key, value in spec.items() if value is not None}), "utf-8")
    return path
