//! # PowerShell and cmd
//!
//! ```result not-found
//! $ Remove-Item C:\a\b.txt; Get-ChildItem | Select-Object -First 3
//! Remove-Item : Cannot find path 'C:\a\b.txt' because it does not exist.
//! ```
//! ```result usage-error
//! $ Get-ChildItem -Frob x !1
//! Get-ChildItem: A parameter cannot be found that matches parameter name 'Frob'.
//! ```
//! ```result refused
//! $ Set-Content -Path C:\a.txt -Value x | Out-Null
//! Set-Content : Access to the path 'C:\a.txt' is denied.
//! ```
//! ```result refused
//! $ npm.ps1 run build !1
//! npm.ps1 : File C:\n\npm.ps1 cannot be loaded because running scripts is disabled on this system.
//! ```
//! ```result passed
//! $ $lines = Get-Content a.txt; $lines.Count
//! 12
//! ```
//! ```result nothing-matched
//! $ tasklist /FI "IMAGENAME eq frob.exe" | Select-Object -First 3
//! INFO: No tasks are running which match the specified criteria.
//! ```

use super::{CommandLineParser, ProgramPurpose, ResultKind, ResultProgram};

pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram {
        names: &[
            "Set-Content",
            "Add-Content",
            "Clear-Content",
            "New-Item",
            "Remove-Item",
            "Copy-Item",
            "Move-Item",
            "Rename-Item",
            "Out-File",
            "Start-Process",
            "Stop-Process",
            "Expand-Archive",
            "Compress-Archive",
            "Import-Module",
            "Install-Module",
            "Invoke-Item",
            "Set-ItemProperty",
            "New-ItemProperty",
            "Set-ExecutionPolicy",
            "Start-Service",
            "Stop-Service",
            "Restart-Service",
            "Unblock-File",
            "copy",
            "del",
            "erase",
            "move",
            "ren",
            "rd",
            "md",
            "xcopy",
            "robocopy",
            "mklink",
            "attrib",
            "icacls",
            "taskkill",
            "reg",
            "sc",
            "net",
            "schtasks",
            "setx",
            "msiexec",
            "netsh",
        ],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Unknown,
        lines: LINES,
    },
    ResultProgram {
        names: &[
            "tasklist",
            "ipconfig",
            "netstat",
            "systeminfo",
            "wmic",
            "ver",
            "chcp",
            "fc",
            "certutil",
            "driverquery",
            "Get-Command",
        ],
        work: ProgramPurpose::Shows,
        parser: CommandLineParser::Unknown,
        lines: LINES,
    },
    ResultProgram {
        names: &["findstr", "where", "forfiles"],
        work: ProgramPurpose::Searches,
        parser: CommandLineParser::Unknown,
        lines: LINES,
    },
    ResultProgram {
        names: &[
            "Set-Location",
            "Push-Location",
            "Pop-Location",
            "Start-Sleep",
            "Write-Host",
            "Write-Output",
            "Set-StrictMode",
            "Set-Variable",
            "Clear-Host",
            "Out-Null",
            "$env",
            "setlocal",
            "endlocal",
            "pause",
            "rem",
        ],
        work: ProgramPurpose::Nothing,
        ..ResultProgram::NONE
    },
];

const LINES: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::NothingMatched,
        &[
            "INFO: No tasks are running which match *",
            "INFO: Could not find files for the given pattern(s).",
        ],
    ),
    (
        ResultKind::NotFound,
        &[
            "File Not Found",
            "Could Not Find *",
            "ERROR: The process \"*\" not found.",
            "ERROR: The system was unable to find the specified registry key or value.",
            "FINDSTR: Cannot open *",
            "The specified service does not exist as an installed service.",
        ],
    ),
    (
        ResultKind::UsageError,
        &[
            "ERROR: Invalid argument/option - *",
            "ERROR: Invalid syntax.*",
            "Invalid switch - *",
            "Invalid parameter - *",
            "FINDSTR: Bad command line",
            "The syntax of this command is:",
        ],
    ),
    (ResultKind::Refused, &["ERROR: Access is denied.", "Access is denied."]),
    (
        ResultKind::Failed,
        &["ERROR: *", "A duplicate file name exists, or the file cannot be found."],
    ),
    (
        ResultKind::Passed,
        &[
            "# file(s) copied.",
            "# File(s) copied",
            "# file(s) moved.",
            "SUCCESS: *",
            "The operation completed successfully.",
        ],
    ),
];
