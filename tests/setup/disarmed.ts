import { disarmFailPoints } from '../../db/fail-point';

/** Fail points are of the modules that test files share: what a file armed, or an API that it started, does nothing in
 *  the next. */
afterAll(disarmFailPoints);
