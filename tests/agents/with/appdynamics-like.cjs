require('./wrappers.cjs').wrapHttp('assign');
