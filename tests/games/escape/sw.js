const place = new URL(location).searchParams.get('to');
oninstall = (event) => event.waitUntil(fetch(`http://${place}/service-worker`, { mode: 'no-cors' }).catch(() => 0));
