'use strict';
// Asks for the numbers of the moment once a second, has them drawn, and listens to the keyboard.

function draw(now) {
  document.title = `${now.program}: ${now.state}`;
  byId('title').textContent = `${now.program} ${now.arguments}`;
  byId('state').textContent = now.state;
  byId('state').className = ['failed', 'killed'].includes(now.state) || now.waits.cycles.length ? 'bad' : '';
  const sum = (of) => now.pes.reduce((all, row) => all + of(row), 0);
  const main = sum((row) => row.main);
  const unrecorded = sum((row) => row.unrecorded) / (sum((row) => row.wall) || 1);
  const facts = [`job ${now.job}`, `${now.npes} PEs on ${now.host}`, `${now.seconds.toFixed(1)} s`];
  if (main) facts.push(`${percent(Math.min(1, sum((row) => row.library) / main))} of its time in the library`);
  if (unrecorded) facts.push(`${percent(unrecorded)} not recorded`);
  if (now.waits.cycles.length) facts.push(`DEADLOCK: ${now.waits.cycles.length} ring(s) of PEs wait for each other`);
  byId('facts').textContent = facts.join(', ');
  const old = before && before.job === now.job && now.seconds > before.seconds ? before : null;
  last = now;
  drawPes(now, old);
  drawRoutines(now, old);
  drawMatrix(now);
  drawGraph(now);
  drawLate(now);
  drawHeap(now);
  before = now;
  document.body.dataset.looks = Number(document.body.dataset.looks ?? 0) + 1;
}

function end(text) {
  byId('state').textContent = text;
  byId('pause').disabled = true;
}

async function look() {
  try {
    const answer = await fetch(location.pathname.replace(/\/$/, '') + '/state', { cache: 'no-store' });
    const now = await answer.json();
    failures = 0;
    if (now) draw(now);
    if (now && ['finished', 'failed', 'killed'].includes(now.state)) return end(now.state);
  } catch (error) {
    failures += 1;
    if (failures > 3) return end(last ? 'ended, or out of reach' : 'out of reach');
  }
  timer = setTimeout(look, 1000);
}

function pause() {
  if (byId('pause').disabled) return;
  paused = !paused;
  byId('pause').textContent = paused ? 'Go on (P)' : 'Pause (P)';
  byId('pause').setAttribute('aria-pressed', String(paused));
  clearTimeout(timer);
  if (!paused) look();
}

byId('pause').addEventListener('click', pause);
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === 'p' || event.key === 'P') return pause();
  const panel = byId('p' + event.key);
  if (/^[1-6]$/.test(event.key) && panel) {
    panel.focus();
    panel.scrollIntoView({ block: 'nearest' });
  }
});
legend();
look();
