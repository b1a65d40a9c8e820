note('script');
setTimeout(() => note('timeout 100'), 100);
clearTimeout(setTimeout(() => note('cancelled'), 50));
setInterval(() => note('tick ' + ++ticks), 250);
