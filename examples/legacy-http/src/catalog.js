// What a database would hold, the same on every start. Runs on Node 6.
var colors = ['red', 'blue', 'green', 'black', 'white', 'grey', 'brown', 'pink'];
var brands = ['Alder', 'Birch', 'Cedar', 'Elm', 'Fir', 'Hazel', 'Larch', 'Maple', 'Oak', 'Pine'];
var categories = ['shoes', 'coats', 'hats', 'bags'];

/** A small generator of its own, so that every step and every runtime sees the same numbers. */
var state = 42;
function random(below) {
  state = (state * 1103515245 + 12345) % 2147483648;
  return Math.floor((state / 2147483648) * below);
}

exports.products = [];
for (var id = 1; id <= 800; id++) {
  exports.products.push({
    id: id,
    title: brands[random(brands.length)] + ' ' + categories[id % 4] + ' no. ' + id,
    category: categories[id % 4],
    brand: brands[random(brands.length)],
    color: colors[random(colors.length)],
    price: (500 + random(20000)) / 100,
    stock: random(30),
    added: new Date(Date.UTC(2019, random(12), 1 + random(28), random(24), random(60))),
  });
}

exports.banners = [];
for (var n = 0; n < 40; n++) {
  exports.banners.push({
    id: n,
    category: categories[(n * 7) % 4],
    active: n > 30,
    text: 'Banner ' + n,
  });
}

/** What a customer may do, as the back office exports it. */
exports.permissions = [];
categories.forEach(function (category) {
  ['list', 'item', 'review', 'order', 'return', 'wish'].forEach(function (action) {
    ['own', 'team', 'all', 'guest'].forEach(function (scope) {
      exports.permissions.push('shop.' + category + '.' + action + '.' + scope);
    });
  });
});

/** Every page of the site, oldest first: the shop came last. */
exports.pages = [];
'about press jobs terms privacy contact help faq stores news blog sitemap login logout register account orders returns wishes cart checkout gift search brands'
  .split(' ')
  .forEach(function (page) {
    exports.pages.push({ name: page, pattern: '^/' + page + '/?$' });
    exports.pages.push({ name: page + ' detail', pattern: '^/' + page + '/([a-z0-9-]+)/?$' });
  });
