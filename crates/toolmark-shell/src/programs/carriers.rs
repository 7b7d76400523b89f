//! Commands that run another command elsewhere: on another machine, in a container or a virtual
//! machine, or in every package of a project.
//!
//! ```denied
//! fly ssh console -C 'rm -rf /data'
//! railway ssh -- rm -rf /data
//! gcloud compute ssh vm -- rm -rf /srv
//! doctl compute ssh 1 --ssh-command 'rm -rf /srv'
//! multipass exec vm -- rm -rf /srv
//! lxc exec c -- rm -rf /srv
//! minikube ssh 'rm -rf /data'
//! oc rsh pod rm -rf /data
//! nomad alloc exec -task t abc rm -rf /data
//! kamal app exec 'bin/rails db:drop'
//! ddev drush sql:drop -y
//! ./vendor/bin/sail artisan migrate:fresh
//! adb shell 'rm -rf /sdcard/DCIM'
//! tsh ssh node rm -rf /srv
//! nix develop -c rm -rf ~/x
//! lerna exec -- rm -rf ~/x
//! npx -c 'rm -rf ~/x'
//! cargo watch -s 'rm -rf ~/x'
//! docker exec web rm -rf /var/lib/app
//! ssh host 'rm -rf /srv/app'
//! ```
//! ```asked
//! # The configuration of another machine is not that of this one.
//! ssh host "sed -i 's/a/b/' /etc/nginx/nginx.conf"
//! ssh host 'ln -sf /srv/app/conf /etc/nginx/sites-enabled/app'
//! ssh host 'echo x > /etc/redis/redis.conf'
//! docker exec web sed -i s/a/b/ /etc/nginx/nginx.conf
//! lxc exec c -- tee /etc/hosts
//! ```
//! ```allowed
//! fly ssh console -C 'ls /data'
//! gcloud compute ssh vm --command 'tail -100 /var/log/syslog'
//! minikube ssh
//! minikube ssh 'df -h'
//! kamal app exec 'bin/rails db:migrate:status'
//! ddev drush cr
//! adb shell ls /sdcard
//! nix develop -c cargo test
//! lerna exec -- npm test
//! ssh host 'cat /etc/nginx/nginx.conf'
//! ssh host "sudo -u postgres psql -c 'SELECT 1'"
//! docker exec web cat /etc/nginx/nginx.conf
//! heroku run rails db:migrate -a app
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::pipes::Flow;
use crate::run::CommandRun;

/// A command that runs another one.
struct Carrier {
    names: &'static [&'static str],
    /// Words before the inner command, each with its alternatives.
    words: &'static str,
    /// Options with values.
    values: &'static str,
    /// Options whose value is the inner command, as text.
    texts: &'static str,
    /// Number of operands before the inner command: a machine, a container.
    operands: usize,
    /// Location of the inner command.
    place: EffectScope,
    /// Whether the last word is part of the inner command: `ddev drush …`.
    is_inclusive: bool,
}

const fn carrier(
    names: &'static [&'static str],
    words: &'static str,
    values: &'static str,
    operands: usize,
) -> Carrier {
    let place = EffectScope::Remote;
    Carrier { names, words, values, texts: "", operands, place, is_inclusive: false }
}

impl Carrier {
    const fn text(self, texts: &'static str) -> Self {
        Self { texts, ..self }
    }

    /// The command runs on this machine, in a container or for every package.
    const fn at(self, place: EffectScope) -> Self {
        Self { place, ..self }
    }

    const fn inclusive(self) -> Self {
        Self { is_inclusive: true, ..self }
    }
}

const CARRIERS: &[Carrier] = &[
    carrier(&["fly", "flyctl"], "ssh console", "-a --app -r -s -g -u", 9).text("-C --command"),
    carrier(&["railway"], "ssh", "-p -s -e --service --environment", 0),
    carrier(&["render"], "ssh", "", 1),
    carrier(&["platform", "upsun"], "ssh", "-p -e -A -i", 0),
    carrier(&["gcloud"], "compute ssh", "--zone --project --ssh-flag --ssh-key-file", 1)
        .text("--command"),
    carrier(&["doctl"], "compute ssh", "--ssh-user --ssh-key-path --access-token", 1)
        .text("--ssh-command"),
    carrier(&["eb"], "ssh", "-n", 9).text("-c --command"),
    carrier(&["heroku"], "run|run:detached|run:inside|local:run", "-a --app -r -s --size -e", 0),
    carrier(&["cf"], "ssh", "-i", 9).text("-c --command"),
    carrier(&["cf"], "run-task", "-k -m --name", 9).text("-c --command"),
    carrier(&["az"], "vm run-command invoke", "-g -n --command-id --name", 9).text("--scripts"),
    carrier(&["kamal"], "app exec", "-d -h -r", 0),
    carrier(&["kamal"], "server exec", "-d -h -r", 0),
    carrier(&["kamal"], "accessory exec", "-d -h -r", 1),
    carrier(&["tsh"], "ssh", "-l -p --cluster --proxy", 1),
    carrier(&["boundary"], "connect ssh", "-target-id -target-name", 9),
    carrier(&["docker-machine"], "ssh", "", 1),
    carrier(&["oc", "kubectl", "k"], "rsh", "-c -n --container --namespace", 1),
    carrier(&["nomad"], "alloc exec", "-task -job -e", 1),
    carrier(&["nomad"], "exec", "-task -job -e", 1),
    carrier(&["multipass"], "exec", "-d", 1).at(EffectScope::Outside),
    carrier(&["lxc", "incus"], "exec", "--env --cwd --user --group", 1).at(EffectScope::Outside),
    carrier(&["limactl"], "shell", "--workdir --shell", 1).at(EffectScope::Outside),
    carrier(&["lima"], "", "", 0).at(EffectScope::Outside),
    carrier(&["colima"], "ssh", "-p --profile", 0).at(EffectScope::Outside),
    carrier(&["minikube"], "ssh", "-p -n --profile --node", 0).at(EffectScope::Outside),
    carrier(&["podman"], "machine ssh", "--username", 0).at(EffectScope::Outside),
    carrier(&["machinectl"], "shell", "--uid -E", 1).at(EffectScope::Outside),
    carrier(&["ctr"], "t|task|tasks exec", "--exec-id --cwd --user", 1).at(EffectScope::Outside),
    carrier(&["adb"], "shell", "-s -t -e", 0).at(EffectScope::Outside),
    carrier(&["ddev", "lando"], "exec", "-s --service -d", 0).at(EffectScope::Outside),
    carrier(&["ddev", "lando"], TOOLS_INSIDE, "", 0).at(EffectScope::Outside).inclusive(),
    carrier(&["sail"], TOOLS_INSIDE, "", 0).at(EffectScope::Outside).inclusive(),
    carrier(&["npx"], "", "-p --package", 9).text("-c --call").at(EffectScope::Unknown),
    carrier(&["lerna"], "exec", "--scope --ignore --concurrency", 0).at(EffectScope::Unknown),
    carrier(&["yarn"], "workspaces foreach exec", "--include --exclude --from", 0)
        .at(EffectScope::Unknown),
    carrier(&["cargo"], "watch", "-w -i -d", 9).text("-s --shell").at(EffectScope::Unknown),
];

/// Programs that environments for development run in their containers.
const TOOLS_INSIDE: &str = "drush|artisan|mysql|psql|php|wp|composer|npm|yarn|pnpm|node|python|\
                            rails|mariadb|magento|console|typo3|cake|craft";

/// Analyzes the command that another one carries.
pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let name = run.name;
    for carrier in CARRIERS.iter().filter(|carrier| carrier.names.contains(&name)) {
        if let Some(inner) = carrier.inner(run.args) {
            return elsewhere(run, carrier.place, |run| match inner.as_slice() {
                [] => {}
                [text] if super::runners::is_text(&text.text) => run.shell_text(&text.text),
                _ => {
                    run.inner(inner, Flow::None);
                }
            });
        }
    }
}

impl Carrier {
    /// Returns the words of the inner command; a text is one word.
    fn inner(&self, args: &[Arg]) -> Option<Vec<Arg>> {
        let is_in = |list: &str, text: &str| list.split(' ').any(|known| known == text);
        let mut words = self.words.split(' ').filter(|word| !word.is_empty()).peekable();
        let mut operands = self.operands;
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let text = arg.text.as_str();
            let rest = args.get(at + 1..).unwrap_or_default();
            at += 1;
            if text == "--" && words.peek().is_none() {
                return Some(rest.to_vec());
            }
            if text.starts_with('-') && text.len() > 1 {
                let (name, value) =
                    text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
                if is_in(self.texts, name) && words.peek().is_none() {
                    let value = value.map(Arg::plain).map(|arg| vec![arg]);
                    // `nix develop -c cargo test` takes all that follows.
                    return value.or_else(|| match rest {
                        [text] => Some(vec![text.clone()]),
                        [text, ..] if super::runners::is_text(&text.text) => {
                            Some(vec![text.clone()])
                        }
                        rest => Some(rest.to_vec()),
                    });
                }
                at += usize::from(value.is_none() && is_in(self.values, text));
                continue;
            }
            match words.next() {
                Some(alternatives) => {
                    if !alternatives.split('|').any(|word| word == text) {
                        return None;
                    }
                    if words.peek().is_none() && self.is_inclusive {
                        return args.get(at - 1..).map(<[Arg]>::to_vec);
                    }
                }
                None if operands > 0 => operands -= 1,
                None => return args.get(at - 1..).map(<[Arg]>::to_vec),
            }
        }
        None
    }
}

/// Analyzes what runs elsewhere. There the files of this machine, its work tree and the settings of
/// its agents do not exist: what is deleted is lost, what is configured needs a question.
pub(super) fn elsewhere(
    run: &mut CommandRun<'_, '_>,
    place: EffectScope,
    look: impl FnOnce(&mut CommandRun<'_, '_>),
) {
    if place == EffectScope::Unknown {
        return look(run);
    }
    let saved = run.analyzer.cwd.take();
    let before = run.analyzer.effects.len();
    look(run);
    run.analyzer.cwd = saved;
    for effect in run.analyzer.effects.iter_mut().skip(before) {
        let is_there = match effect.kind {
            EffectKind::Delete => effect.reversibility >= Reversibility::R3,
            EffectKind::Overwrite | EffectKind::Persist => true,
            _ => false,
        };
        if is_there && effect.scope != EffectScope::Temp {
            effect.scope = place;
            if effect.kind != EffectKind::Delete {
                effect.reversibility = effect.reversibility.min(Reversibility::R3);
            }
        }
    }
}
