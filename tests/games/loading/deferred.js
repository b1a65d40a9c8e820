note('deferred');
