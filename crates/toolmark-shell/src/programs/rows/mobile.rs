//! Phones, simulators and the stores of their apps.
//!
//! ```denied
//! adb shell pm clear com.example.app
//! adb -s emulator-5554 uninstall com.example.app
//! adb reboot bootloader && fastboot erase userdata
//! fastboot -w
//! fastboot flashing unlock
//! xcrun simctl erase all
//! fastlane match nuke distribution
//! ```
//! ```asked
//! xcrun simctl delete unavailable
//! adb backup -all
//! adb pull /data/data/com.whatsapp
//! adb reboot recovery
//! avdmanager delete avd -n pixel
//! eas submit --platform ios
//! eas update --branch production
//! ```
//! ```allowed
//! adb devices
//! adb install app.apk
//! adb logcat -d
//! adb shell am force-stop com.example.app
//! adb pull /sdcard/screen.png
//! adb reverse tcp:8081 tcp:8081
//! fastboot devices
//! xcrun simctl list
//! xcrun simctl boot X
//! xcrun simctl uninstall booted com.example.app
//! xcrun swift build
//! fastlane test
//! fastlane match development --readonly
//! eas build --platform ios
//! eas update --branch preview
//! avdmanager list avd
//! ```

use super::{CHANGES, DELETES, DROPS, LISTENS, PUBLISHES, REMOVES, SHOWS_SECRET, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["adb"],
        values: "-s -H -P -t -L",
        rows: &[
            ("uninstall", DROPS),
            ("shell pm clear|uninstall", DROPS),
            ("shell cmd package uninstall", DROPS),
            ("shell wipe|recovery", DROPS),
            ("shell settings delete", REMOVES),
            ("shell content delete", DROPS),
            ("shell am broadcast *MASTER_CLEAR*", DROPS),
            ("sideload|restore|disable-verity|remount|root", CHANGES),
            ("reboot recovery|bootloader|fastboot|sideload*", CHANGES),
            ("backup", SHOWS_SECRET),
            ("pull /data/data*|/data/user*|/data/system*|/data/misc*", SHOWS_SECRET),
        ],
    },
    Tool {
        names: &["fastboot"],
        values: "-s -S",
        rows: &[
            ("-w", DROPS),
            (
                "erase|format*|flash|flashall|flashing|oem|update|wipe-super|delete-logical-partition",
                DROPS,
            ),
        ],
    },
    Tool {
        names: &["xcrun", "simctl"],
        values: "--sdk -sdk",
        rows: &[
            ("altool|notarytool --upload-app|--upload-package", super::PUBLISHES_FOREVER),
            ("simctl erase", DROPS),
            ("simctl delete", REMOVES),
            ("simctl keychain * reset", REMOVES),
            ("simctl runtime delete", REMOVES),
            ("devicectl device uninstall", DROPS),
            ("erase", DROPS),
            ("delete", REMOVES),
        ],
    },
    Tool { names: &["avdmanager"], values: "", rows: &[("delete", REMOVES)] },
    Tool { names: &["emulator"], values: "-avd -port", rows: &[("-wipe-data", REMOVES)] },
    Tool {
        names: &["ideviceinstaller", "ios-deploy"],
        values: "-u -i",
        rows: &[("-U|--uninstall|--uninstall_only", DROPS)],
    },
    Tool {
        names: &["cfgutil", "idevicerestore"],
        values: "-e",
        rows: &[("erase|restore|remove-app", DROPS), ("-e|--erase|-l|--latest", DROPS)],
    },
    Tool {
        names: &["idevicebackup2"],
        values: "-u",
        rows: &[("restore|unback|erase", DROPS), ("backup", LISTENS)],
    },
    Tool {
        names: &["fastlane"],
        values: "--env",
        rows: &[
            ("deliver|release|upload_to_app_store|supply|beta|pilot", super::PUBLISHES_FOREVER),
            ("match nuke", DELETES),
            ("match_nuke", DELETES),
            ("nuke", DELETES),
            ("pem|cert|sigh", CHANGES),
        ],
    },
    Tool {
        names: &["eas"],
        values: "--platform -p --profile -e",
        rows: &[
            ("submit", PUBLISHES),
            ("update --branch=*prod*", PUBLISHES),
            ("update --channel=*prod*", PUBLISHES),
            ("update:republish|update:roll-back-to-embedded", PUBLISHES),
            ("metadata:push", PUBLISHES),
            ("credentials", SHOWS_SECRET),
        ],
    },
    Tool {
        names: &["appcenter", "code-push", "code-push-standalone"],
        values: "-a --app -d",
        rows: &[
            ("codepush release*|promote|rollback|patch", PUBLISHES),
            ("release*|promote|rollback|patch", PUBLISHES),
            ("codepush deployment clear|remove", DELETES),
            ("deployment clear|remove", DELETES),
        ],
    },
];
