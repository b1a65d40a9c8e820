import { x } from './dep.mjs';
note('module');
window.x = x;
