// The same for `import`.
import toolmark from "./matchers.js";

export const { matchers } = toolmark;
