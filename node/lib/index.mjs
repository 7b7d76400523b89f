// The same for `import`: one copy of the code, so that an error is an instance of one class.
import toolmark from "./index.js";

export const { ToolmarkError, check, findBinary, grade, gradeTrace } = toolmark;
