/**
 * Draws each flamegraph of the page from its data: zoom, search, filters, keyboard. Only frames that are wide enough to see are in
 * the document. Without the script, the widest frames stay as they were rendered, with native tooltips.
 */
export const graphScript: string = `
for(const section of document.querySelectorAll('[data-flame]')){
const $=selector=>section.querySelector(selector),data=JSON.parse($('script[type="application/json"]').textContent);
const box=$('.fg'),say=$('.fg-say'),reset=$('.fg-reset'),search=$('input[type=search]'),flags=$('[data-flags]'),note=say.textContent;
const ROW=21,isChange=data.mode==='change',tierClasses=['ti','ts','tm','tt'],changeClasses=['ce','cl','cm'],NS='http://www.w3.org/2000/svg';
const frames=[],stack=[];
for(const [depth,fn,total,self,...rest] of data.nodes){
  const [name,place,owner,flagged]=data.functions[fn],parent=stack[depth-1];
  const frame={depth,total,self,rest,name:data.names[name],place:data.places[place],owner,flagged,parent,children:[],x:parent?parent.next:0};
  frame.next=frame.x;if(parent){parent.next+=total;parent.children.push(frame)}
  if(isChange)frame.kind=changeClasses[rest[2]];
  else{let best=-1;rest.forEach((count,index)=>{if(count>(best<0?0:rest[best]))best=index});frame.kind=best<0?'t0':tierClasses[best];frame.mark=best<0?'':data.marks[best]}
  stack[depth]=frame;frames.push(frame)}
const root=frames[0],off=new Set;let zoomed=root,current=root,query='',drawn=new Map;
const share=(count,all)=>(count/all*100).toFixed(count/all<.0995?1:0)+' %';
const micros=(count,per)=>per?(count*per).toFixed(count*per<9.95?2:1)+' µs':'';
const figures=f=>{
  if(isChange){const [totalBefore,selfBefore]=f.rest,p=data.microsPerSample,q=data.microsPerSampleBefore;
    const text=(a,b)=>p&&q?micros(a,q)+' → '+micros(b,p):share(a,data.samplesBefore)+' → '+share(b,data.samples);
    return 'total '+text(totalBefore,f.total)+', self '+text(selfBefore,f.self)}
  const tiers=f.rest.map((count,index)=>count&&data.tiers[index]+' '+share(count,f.total)).filter(Boolean).join(', ');
  const per=data.microsPerSample?' ('+micros(f.total,data.microsPerSample)+' of a request)':'';
  return 'total '+share(f.total,data.samples)+per+', self '+share(f.self,data.samples)+(tiers?' · '+tiers:'')};
const title=f=>f.name+' — '+data.owners[f.owner]+(f.flagged?', hot and not optimised':'');
const describe=f=>{say.textContent='';if(!f){say.textContent=note;return}
  const name=document.createElement('b');name.textContent=title(f);say.append(name,', '+figures(f)+(f.place?' · '+f.place:''))};
const matches=f=>query!==''&&(f.name+' '+f.place).toLowerCase().includes(query);
const cut=(text,width)=>{const room=Math.floor((width-9)/7);return text.length<=room?text:room<4?'':text.slice(0,room-1)+'…'};
const dimmed=f=>off.has(f.owner)||query!==''&&!matches(f);
const add=(f,x,width,pixels)=>{
  const svg=document.createElementNS(NS,'svg');svg.setAttribute('class','f '+f.kind+(dimmed(f)?' dim':'')+(f.flagged?' hot':'')+(matches(f)?' hit':''));
  svg.setAttribute('x',x*100+'%');svg.setAttribute('width',width*100+'%');svg.setAttribute('y',f.depth*ROW);svg.setAttribute('height',ROW-1);
  svg.setAttribute('role','img');svg.setAttribute('aria-label',title(f)+', '+figures(f));svg.setAttribute('tabindex','-1');
  const text=document.createElementNS(NS,'text');text.textContent=cut((f.mark||'')+f.name,pixels*width);
  svg.append(document.createElementNS(NS,'rect'),text);svg.frame=f;drawn.set(f,svg);return svg};
const draw=keepFocus=>{
  drawn=new Map;const pixels=box.clientWidth||1000,parts=[];let depth=zoomed.depth;
  for(let f=zoomed.parent;f;f=f.parent)parts.unshift(add(f,0,1,pixels));
  const visit=f=>{const width=f.total/zoomed.total;if(width*pixels<.7)return;depth=Math.max(depth,f.depth);parts.push(add(f,(f.x-zoomed.x)/zoomed.total,width,pixels));f.children.forEach(visit)};
  visit(zoomed);box.setAttribute('height',(depth+1)*ROW);box.replaceChildren(...parts);
  if(!drawn.has(current))current=zoomed;drawn.get(current).setAttribute('tabindex','0');if(keepFocus)drawn.get(current).focus();
  reset.hidden=zoomed===root};
const repaint=()=>{for(const [f,svg] of drawn){svg.classList.toggle('dim',dimmed(f));svg.classList.toggle('hit',matches(f))}};
const zoom=(f,keepFocus)=>{zoomed=f;current=f;draw(keepFocus);describe(f===root?undefined:f)};
const focus=f=>{if(!f||!drawn.has(f))return;drawn.get(current)?.setAttribute('tabindex','-1');current=f;const svg=drawn.get(f);svg.setAttribute('tabindex','0');svg.focus()};
const frameOf=event=>event.target.closest?.('.f')?.frame;
box.addEventListener('click',event=>{const f=frameOf(event);if(f)zoom(f,true)});
box.addEventListener('pointermove',event=>{const f=frameOf(event);if(f)describe(f)});
box.addEventListener('pointerleave',()=>describe(box.contains(document.activeElement)?current:undefined));
box.addEventListener('focusin',event=>{const f=frameOf(event);if(f)describe(f)});
box.addEventListener('keydown',event=>{
  const f=frameOf(event);if(!f||event.ctrlKey||event.metaKey||event.altKey)return;
  const row=()=>[...drawn.keys()].filter(other=>other.depth===f.depth).sort((a,b)=>a.x-b.x),beside=by=>{const all=row();return all[all.indexOf(f)+by]};
  const next={ArrowUp:()=>f.parent,ArrowDown:()=>f.children.find(child=>drawn.has(child)),ArrowLeft:()=>beside(-1),ArrowRight:()=>beside(1),Home:()=>root}[event.key];
  if(next){event.preventDefault();focus(next())}
  else if(event.key==='Enter'){event.preventDefault();zoom(f,true)}
  else if(event.key==='Escape'){event.preventDefault();zoom(root,true)}});
reset.onclick=()=>zoom(root,false);
for(const check of section.querySelectorAll('[data-owner]'))check.onchange=()=>{const owner=Number(check.dataset.owner);if(check.checked)off.delete(owner);else off.add(owner);repaint()};
if(flags)flags.onchange=()=>box.classList.toggle('flags',flags.checked);
const found=()=>{let sum=0;const visit=f=>{if(matches(f))sum+=f.total;else f.children.forEach(visit)};visit(root);return sum};
search.oninput=()=>{query=search.value.trim().toLowerCase();repaint();
  if(query==='')describe();else{const sum=found();say.textContent=sum?'“'+search.value.trim()+'” is on the stack in '+share(sum,data.samples)+' of the samples.':'No frame has “'+search.value.trim()+'” in its name or place.'}};
search.onkeydown=event=>{if(event.key==='Escape'){search.value='';search.oninput()}};
document.addEventListener('keydown',event=>{if(event.key==='/'&&!event.target.matches?.('input,textarea')){event.preventDefault();search.focus()}});
for(const control of section.querySelectorAll('.fg-ctl[hidden]'))control.hidden=false;
let width=0;new ResizeObserver(()=>{if(box.clientWidth!==width){width=box.clientWidth;draw(false)}}).observe(box);
addEventListener('beforeprint',()=>zoom(root,false));draw(false)}
`;
