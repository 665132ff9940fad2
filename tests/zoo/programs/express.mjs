// After the READMEs of express, multer and compression.
import compression from 'compression';
import express from 'express';
import multer from 'multer';

const app = express();
app.use(compression({ threshold: 100 }));
app.use(express.json(), express.urlencoded({ extended: true }));
app.get('/', (request, response) => response.send('<p>Hello World</p>'));
app.get('/items', (request, response) => response.json([{ id: 1, name: 'Kettle' }]));
app.get('/long', (request, response) =>
  response.json(Array.from({ length: 200 }, (_, id) => ({ id }))),
);
app.get('/old', (request, response) => response.redirect(301, '/items'));
app.get('/cookie', (request, response) =>
  response.cookie('a', 'b', { httpOnly: true }).send('set'),
);
app.get('/fail', () => {
  throw new Error('failed');
});
app.get('/events', (request, response) => {
  response.set('content-type', 'text/event-stream').flushHeaders();
  let count = 0;
  const timer = setInterval(() => response.write(`id: ${++count}\ndata: ${count}\n\n`), 5);
  request.on('close', () => clearInterval(timer));
});
app.get('/early', (request, response) => {
  response.writeEarlyHints({ link: '</style.css>; rel=preload' });
  response.send('late');
});
app.post('/items', (request, response) => response.status(201).json(request.body));
const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: 50_000 } });
app.post('/upload', upload.single('file'), (request, response) =>
  response.json({ ...request.body, size: request.file.size, type: request.file.mimetype }),
);
app.use('/files', express.static(process.env.SITE));
app.use((error, request, response, next) => {
  if (response.headersSent) return next(error);
  response.status(error.status ?? (error.code ? 413 : 500)).json({ error: error.message });
});
app.listen(process.env.PORT);
