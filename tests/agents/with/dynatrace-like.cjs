require('./wrappers.cjs').wrapHttp('define');
