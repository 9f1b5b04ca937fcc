/** For what changes modules of the service for a test file: throws in one whose modules other files share
 *  (setup/shared-runtime.cjs). */
export function needsOwnModules(): void {
  if ('sharesModules' in globalThis)
    throw new Error('This changes modules that test files share: begin the file with /** @jest-environment node */');
}
