process.once('message', (message) => process.send(message, () => process.disconnect()));
