document.querySelectorAll('th').forEach(th=>{const sort=()=>{const table=th.closest('table'),body=table.tBodies[0],at=th.cellIndex,
number=th.classList.contains('n'),down=th.getAttribute('aria-sort')!=='descending'&&(number||th.hasAttribute('aria-sort'));
table.querySelectorAll('th').forEach(o=>o.removeAttribute('aria-sort'));th.setAttribute('aria-sort',down?'descending':'ascending');
const value=row=>{const cell=row.cells[at];return number?+(cell.dataset.v||0):cell.textContent};
[...body.rows].sort((a,b)=>{const x=value(a),y=value(b),c=number?x-y:x.localeCompare(y,undefined,{numeric:true});return down?-c:c})
.forEach(row=>body.append(row))};th.addEventListener('click',sort);th.addEventListener('keydown',e=>{if(e.key==='Enter')sort()})});
