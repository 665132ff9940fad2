// What esbuild makes of an app and the ORM it imports, with the map that says which is which.
'use strict';
const { createServer } = require('node:http');

// node_modules/some-orm/lib/driver.js
const rows = [{ id: 1 }, { id: 2 }];
function query(text, done) {
  setTimeout(function onData() {
    done(rows, text);
  }, 1);
}

// node_modules/some-orm/lib/model.js
function build(row) {
  return { ...row };
}
async function findAll(text) {
  const found = await new Promise((resolve) => query(text, resolve));
  return found.map(build);
}

// src/main.js
function present(orders) {
  return JSON.stringify(orders);
}
async function getOrders(request, response) {
  const orders = await findAll('orders');
  response.end(present(orders));
}
createServer(getOrders).listen(Number(process.env.PORT), '127.0.0.1');
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbIi4uL25vZGVfbW9kdWxlcy9zb21lLW9ybS9saWIvZHJpdmVyLmpzIiwiLi4vbm9kZV9tb2R1bGVzL3NvbWUtb3JtL2xpYi9tb2RlbC5qcyIsInNyYy9tYWluLmpzIl0sIm5hbWVzIjpbXSwibWFwcGluZ3MiOiI7O0FFQUE7OztBRkFBO0FBQ0E7QUFDQTtBQUNBO0FBQ0E7QUFDQTs7O0FDTEE7QUFDQTtBQUNBO0FBQ0E7QUFDQTtBQUNBO0FBQ0E7OztBQ0xBO0FBQ0E7QUFDQTtBQUNBO0FBQ0E7QUFDQTtBQUNBO0FBQ0EifQ==
