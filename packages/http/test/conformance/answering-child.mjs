// Answers on the connections that its parent sends it.
process.on('message', (_, socket) => {
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 14\r\nConnection: close\r\n\r\nfrom the child');
});
process.send('ready');
