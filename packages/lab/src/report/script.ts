/**
 * Theme button, one tooltip for pointer and keyboard, one Tab stop per chart with arrow keys inside. Without the script the page
 * loses convenience but no figures. A section marks its chart with `data-rove` and its marks with `svg.m`.
 */
export const pageScript: string = `(()=>{
const root=document.documentElement,tip=document.querySelector('#tip'),button=document.querySelector('#theme');
const all=(selector,within=document)=>[...within.querySelectorAll(selector)];
const themes=['auto','light','dark'];let theme=Math.max(0,themes.indexOf(location.hash.slice(1)));
const paint=()=>{if(theme)root.dataset.theme=themes[theme];else delete root.dataset.theme;button.textContent='Theme: '+themes[theme]};
button.onclick=()=>{theme=(theme+1)%themes.length;paint()};button.hidden=false;paint();

const marks=new Map();
for(const mark of all('svg.m')){
  const [title,text]=['title','desc'].map(name=>{const node=mark.querySelector(':scope>'+name);node.remove();return node.textContent});
  marks.set(mark,{title,text});mark.setAttribute('aria-label',title+'. '+text);mark.tabIndex=-1}

const hide=()=>{tip.hidden=true};
const show=(mark,x,y)=>{
  const [title,text]=tip.children;title.textContent=marks.get(mark).title;text.textContent=marks.get(mark).text;tip.hidden=false;
  const box=tip.getBoundingClientRect();
  tip.style.left=Math.max(4,Math.min(x,innerWidth-box.width-8))+'px';
  tip.style.top=(y+box.height+12>innerHeight?y-box.height-12:y+12)+'px'};
document.addEventListener('pointermove',event=>{
  const mark=event.target.closest?.('svg.m');
  if(mark)show(mark,event.clientX+10,event.clientY);else if(!document.activeElement?.matches('svg.m:focus-visible'))hide()});
document.addEventListener('focusin',({target})=>{
  if(!marks.has(target)||!target.matches(':focus-visible'))return hide();
  const box=target.getBoundingClientRect();show(target,box.left,box.bottom)});
document.addEventListener('focusout',hide);addEventListener('scroll',hide,{passive:true});

for(const chart of all('[data-rove]')){
  const rows=all('tr',chart).map(row=>all('svg.m',row)).filter(row=>row.length);
  const own=rows.flat();if(own[0])own[0].tabIndex=0;
  chart.addEventListener('focusin',({target})=>{if(own.includes(target)){own.forEach(mark=>{mark.tabIndex=-1});target.tabIndex=0}});
  chart.addEventListener('keydown',event=>{
    const y=rows.findIndex(row=>row.includes(event.target)),x=rows[y]?.indexOf(event.target);
    if(y<0||event.ctrlKey||event.metaKey||event.altKey)return;
    if(event.key==='Escape')return hide();
    const next={ArrowDown:rows[y+1]?.[x],ArrowUp:rows[y-1]?.[x],ArrowRight:rows[y][x+1],ArrowLeft:rows[y][x-1],Home:own[0],End:own.at(-1)}[event.key];
    if(next){event.preventDefault();next.focus()}})}
})();`;
