//! Colours, layout, and the little that moves.

/// Style sheet.
pub const CSS: &str = "
:root{color-scheme:light dark;--bg:#f7f8fa;--fg:#1c2430;--dim:#687385;--card:#fff;--line:#e1e5ec;--acc:#1769c4;--acc2:#0b9b8a;
--warm:#d9622b;--soft:#dbe9f9;--hover:#f0f5fb}
@media(prefers-color-scheme:dark){:root{--bg:#12161c;--fg:#e3e8ef;--dim:#93a0b2;--card:#1a2029;--line:#2b3442;--acc:#62a8f5;
--acc2:#3fcbb8;--warm:#f08a55;--soft:#20364f;--hover:#222b37}}
*{box-sizing:border-box}html{scroll-behavior:smooth;scroll-padding-top:3.2rem}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
header,main,footer{max-width:1240px;margin:0 auto;padding:0 1.5rem}
header{padding-top:1.8rem}.brand{margin:0;color:var(--acc);font-weight:600;letter-spacing:.02em}
h1{margin:.1rem 0;font-size:1.7rem;line-height:1.25;overflow-wrap:anywhere}h1 small{font-weight:400;color:var(--dim);font-size:.6em}
.where{margin:0 0 1.2rem;color:var(--dim)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(145px,1fr));gap:.7rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.75rem 1rem;display:flex;flex-direction:column}
.card span{color:var(--dim);font-size:.85rem}.card b{font-size:1.45rem;font-variant-numeric:tabular-nums;line-height:1.3}
.card i{font-style:normal;color:var(--dim);font-size:.8rem}
.notes{margin:1rem 0 0;padding:.7rem 1rem .7rem 2rem;background:var(--card);border-left:4px solid var(--warm);border-radius:6px}
nav{position:sticky;top:0;z-index:2;background:var(--bg);border-bottom:1px solid var(--line);margin-top:1.2rem;padding:.55rem max(1.5rem,calc((100% - 1240px)/2 + 1.5rem));
display:flex;flex-wrap:wrap;gap:.1rem .35rem;white-space:nowrap}
@media(max-width:900px){nav{flex-wrap:nowrap;overflow-x:auto}}
nav a{color:var(--dim);text-decoration:none;padding:.15rem .65rem;border-radius:99px;font-size:.9rem}nav a:hover,nav a:focus{background:var(--soft);color:var(--fg)}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.1rem 1.3rem 1.2rem;margin:1.2rem 0}
h2{font-size:1.15rem;margin:0 0 .8rem}h3{font-size:1rem;margin:1.3rem 0 .5rem}
.scroll{overflow:auto;max-height:32rem;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:.86rem;font-variant-numeric:tabular-nums}
th{position:sticky;top:0;background:var(--card);box-shadow:inset 0 -1px var(--line);text-align:left;color:var(--dim);font-weight:600;cursor:pointer;white-space:nowrap}
th,td{padding:.34rem .55rem}td{border-top:1px solid var(--line)}tbody tr:first-child td{border-top:0}tbody tr:hover{background:var(--hover)}
.n{text-align:right;white-space:nowrap}td{white-space:nowrap}td:first-child{font-weight:500;white-space:normal;overflow-wrap:anywhere;min-width:10rem}td.z{color:var(--dim)}
td[style]{background:linear-gradient(to left,var(--soft) var(--bar),transparent var(--bar))}
th[aria-sort=descending]::after{content:' \\2193'}th[aria-sort=ascending]::after{content:' \\2191'}
.hint{color:var(--dim);font-size:.9rem;margin:-.4rem 0 1rem;max-width:62rem}
.finding{border-left:4px solid var(--warm);padding:.1rem 0 .1rem .9rem;margin:.8rem 0}.finding span{color:var(--dim);font-size:.85rem}.finding p{margin:.25rem 0 0}
.key .none{background:var(--line);opacity:.5}.key .some{background:linear-gradient(to right,color-mix(in srgb,var(--acc) 12%,transparent),var(--acc));width:3rem!important}.key .most{background:var(--acc)}
.note,.empty{color:var(--dim);font-size:.87rem;margin:.5rem 0 0}
.chart{margin:0 0 1.1rem}.chart svg{display:block;width:100%;height:auto;max-width:620px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));gap:1rem 2rem}
.chart h4{margin:0 0 .4rem;font-size:.9rem;font-weight:600;color:var(--dim)}
svg text{fill:var(--fg);font:12px system-ui,sans-serif}svg .dim{fill:var(--dim)}svg .end{text-anchor:end}svg .mid{text-anchor:middle}
.a{fill:var(--acc)}.b{fill:var(--acc2)}.c{fill:var(--warm)}.d{fill:var(--dim)}.grid{fill:var(--line)}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.82rem;color:var(--dim);margin:.4rem 0 0}
.key i{display:inline-block;width:.75rem;height:.75rem;border-radius:3px;margin-right:.35rem;vertical-align:-1px}
footer{color:var(--dim);font-size:.85rem;padding-bottom:2.5rem}
@media print{:root{--bg:#fff;--fg:#000;--dim:#444;--card:#fff;--line:#bbb;--soft:#dde6f2}nav{display:none}
th,td{padding:.15rem .3rem}table{font-size:.8rem}td:first-child{min-width:0}.n,td{white-space:normal}.cards{grid-template-columns:repeat(7,1fr)}.card{padding:.4rem .5rem}
@page{size:A4 landscape;margin:12mm}
section{border:0;padding:0;border-radius:0}section,.chart{break-inside:auto}.scroll{max-height:none;overflow:visible;border:0}
h2,h3{break-after:avoid}tr,svg{break-inside:avoid}body{font-size:11px}
.a,.b,.c,.d,td[style],.key i,rect{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
";

/// Sorting a table by a click on a column's title.
pub const SCRIPT: &str = "
document.querySelectorAll('th').forEach(th=>{const sort=()=>{const table=th.closest('table'),body=table.tBodies[0],at=th.cellIndex,
number=th.classList.contains('n'),down=th.getAttribute('aria-sort')!=='descending'&&(number||th.hasAttribute('aria-sort'));
table.querySelectorAll('th').forEach(o=>o.removeAttribute('aria-sort'));th.setAttribute('aria-sort',down?'descending':'ascending');
const value=row=>{const cell=row.cells[at];return number?+(cell.dataset.v||0):cell.textContent};
[...body.rows].sort((a,b)=>{const x=value(a),y=value(b),c=number?x-y:x.localeCompare(y,undefined,{numeric:true});return down?-c:c})
.forEach(row=>body.append(row))};th.addEventListener('click',sort);th.addEventListener('keydown',e=>{if(e.key==='Enter')sort()})});
";
