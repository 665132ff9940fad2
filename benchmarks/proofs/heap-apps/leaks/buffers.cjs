// Memory outside of the heap: uploads that wait for a writer that does not exist.
const http = require('node:http');

const uploads = { waiting: [] };

function answer(request, response) {
  const upload = Buffer.allocUnsafeSlow(4_096).fill(1);
  uploads.waiting.push(upload); // leaks here
  response.end(String(upload.length));
}

http.createServer(answer).listen(process.env.PORT, '127.0.0.1');
