// Step 7, no-split-for-pair and no-split-for-first: the URL and the cookies are cut where the signs are.
var catalog = require('./catalog');

/* ---- router ---- */

function Router() {
  this.data = [];
}

Router.prototype.add = function (name, pattern, handler) {
  this.data.push({ name: name, _options: { regexp_obj: new RegExp(pattern) }, handler: handler });
};

Router.prototype.getByUrl = function (url) {
  for (let i = 0; i < this.data.length; i++) {
    if (this.data[i]._options.regexp_obj.test(url)) return this.data[i];
  }
  return null;
};

var router = new Router();
catalog.pages.forEach(function (page) {
  router.add(page.name, page.pattern, staticPage);
});
router.add('list', '^/shop/([a-z]+)/list$', listPage);
router.add('item', '^/shop/([a-z]+)/item/(\\d+)$', itemPage);

/* ---- log: the last requests, for the operators' page ---- */

var lastRequests = [];

function pad(val) {
  return val >= 10 ? val : '0' + val;
}

function getTime(date) {
  return [pad(date.getUTCHours()), pad(date.getUTCMinutes()), pad(date.getUTCSeconds())].join(':');
}

function log() {
  var parts = Array.prototype.slice.call(arguments);
  lastRequests.push([getTime(new Date()), parts.join(' ')].join(' '));
  while (lastRequests.length > 50) lastRequests.shift();
}

/* ---- what every request brings ---- */

function parsePairs(text, separator) {
  const all = {};
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf(separator, start);
    if (end === -1) end = text.length;
    addPair(all, text.slice(start, end).trim());
    start = end + 1;
  }
  return all;
}

function addPair(all, part) {
  if (part.length === 0) return;
  const at = part.indexOf('=');
  if (at === -1) {
    all[part] = '';
    return;
  }
  let end = part.indexOf('=', at + 1);
  if (end === -1) end = part.length;
  const value = part.slice(at + 1, end);
  all[part.slice(0, at)] = value.indexOf('%') === -1 ? value : decodeURIComponent(value);
}

var inFlight = {};
var requests = 0;

function begin(cookies) {
  var id = 'request-' + ++requests;
  inFlight[id] = { customer: cookies.customer || 'guest', began: new Date().getTime() };
  return id;
}

function end(id) {
  var entry = inFlight[id];
  delete inFlight[id];
  return new Date().getTime() - entry.began;
}

const permissions = new Set(catalog.permissions);

function mayList(category, scope) {
  return permissions.has('shop.' + category + '.list.' + scope);
}

/* ---- the list ---- */

function selectItems(category, query) {
  const colors = query.color ? query.color.split(',') : null;
  const discount = parseFloat(query.discount || '0');
  const min = parseFloat(query.min || '0');
  const max = parseFloat(query.max || '1000000');
  const items = [];
  for (let i = 0; i < catalog.products.length; i++) {
    const product = catalog.products[i];
    if (product.category !== category || product.stock <= 0) continue;
    if (colors && colors.indexOf(product.color) === -1) continue;
    const item = priceItem(product, discount);
    if (item.price >= min && item.price <= max) items.push(item);
  }
  return items;
}

function priceItem(product, discount) {
  const price = round(product.price * (1 - discount / 100));
  return {
    id: product.id,
    title: product.title,
    brand: product.brand,
    color: product.color,
    price: price,
    vat: round(price * 0.2),
    added: product.added,
  };
}

function round(amount) {
  const cents = amount * 100;
  // So near to a half the product's own error decides: 24.70 * 1.05 is less than 25.935, and only toFixed knows.
  if (Math.abs(cents - Math.floor(cents) - 0.5) < 1e-6) return parseFloat(amount.toFixed(2));
  return Math.round(cents) / 100;
}

function countBy(items, key) {
  const counts = {};
  for (let i = 0; i < items.length; i++) {
    const value = items[i][key];
    counts[value] = (counts[value] || 0) + 1;
  }
  return counts;
}

function namesOf(items) {
  const names = [];
  for (let i = 0; i < items.length; i++) {
    if (names.indexOf(items[i].brand) === -1) names.push(items[i].brand);
  }
  return names.sort();
}

function cheapest(items) {
  let best = items[0];
  for (let i = 1; i < items.length; i++) {
    // The items are in the order of their ids, so the first of equal ones stays.
    if (items[i].price < best.price) best = items[i];
  }
  return best;
}

function bannerFor(category) {
  return catalog.banners.find((banner) => banner.active && banner.category === category);
}

function twoDigits(val) {
  return ('0' + val).slice(-2);
}

function formatDate(date) {
  return (
    [date.getUTCFullYear(), twoDigits(date.getUTCMonth() + 1), twoDigits(date.getUTCDate())].join(
      '-'
    ) +
    ' ' +
    [twoDigits(date.getUTCHours()), twoDigits(date.getUTCMinutes())].join(':')
  );
}

function render(items, page) {
  const shown = items.slice((page - 1) * 10, page * 10);
  const rows = [];
  for (let i = 0; i < shown.length; i++) {
    const product = shown[i];
    rows.push({
      id: product.id,
      title: product.title,
      color: product.color,
      price: product.price.toFixed(2),
      vat: product.vat,
      added: formatDate(product.added),
    });
  }
  return rows;
}

function listPage(request) {
  var query = request.query;
  if (!mayList(request.category, 'guest')) return { status: 403, body: '{"error":"not allowed"}' };
  const items = selectItems(request.category, query);
  var best = cheapest(items);
  var banner = bannerFor(request.category);
  return {
    status: 200,
    body: JSON.stringify({
      customer: request.cookies.customer || 'guest',
      total: items.length,
      colors: countBy(items, 'color'),
      brands: namesOf(items),
      best: best ? best.id : null,
      banner: banner ? banner.text : null,
      items: render(items, parseInt(query.page || '1', 10)),
    }),
  };
}

/* ---- the other pages ---- */

function itemPage(request) {
  const id = parseInt(request.id, 10);
  const product = catalog.products.find((each) => each.id === id);
  if (!product) return { status: 404, body: '{"error":"no such item"}' };
  return { status: 200, body: JSON.stringify(render([priceItem(product, 0)], 1)[0]) };
}

function staticPage(request) {
  return { status: 200, body: JSON.stringify({ page: request.path }) };
}

/* ---- the request ---- */

function respond(res, answer) {
  res.writeHead(answer.status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(answer.body),
  });
  res.end(answer.body);
}

/** Up to a second question mark, as split had it. */
function queryOf(url, mark) {
  if (mark === -1) return '';
  const second = url.indexOf('?', mark + 1);
  return second === -1 ? url.slice(mark + 1) : url.slice(mark + 1, second);
}

function handle(req, res) {
  const mark = req.url.indexOf('?');
  const path = mark === -1 ? req.url : req.url.slice(0, mark);
  var cookies = parsePairs(req.headers.cookie || '', ';');
  var id = begin(cookies);
  var route = router.getByUrl(path);
  var answer = { status: 404, body: '{"error":"no such page"}' };
  if (route) {
    const parts = path.split('/');
    answer = route.handler({
      path: path,
      category: parts[2],
      id: parts[4],
      cookies: cookies,
      query: parsePairs(queryOf(req.url, mark), '&'),
    });
  }
  respond(res, answer);
  log(req.method, req.url, answer.status, end(id) + 'ms');
}

module.exports = handle;

if (require.main === module) require('./listen')(handle);
