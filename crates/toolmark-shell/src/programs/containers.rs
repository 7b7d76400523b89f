//! Containers: images can be rebuilt, volumes hold data, and some options give
//! access to the host.
//!
//! ```denied
//! docker volume rm x
//! podman system reset -f
//! docker volume prune -f
//! docker system prune --volumes
//! docker exec db psql -c 'drop table x'
//! docker exec -it c rm -rf /data
//! docker compose exec -T db psql -U x -c 'DROP DATABASE d'
//! docker run -v /:/host alpine rm -rf /host
//! ```
//! ```asked
//! docker compose down -v
//! docker-compose -f x.yml down --volumes
//! docker system prune -af
//! docker rm -f $(docker ps -aq)
//! docker rmi -f x
//! docker image prune -a
//! docker run --privileged x
//! docker run -v /var/run/docker.sock:/s x
//! docker network rm x
//! docker push me/x
//! docker stop $(docker ps -q)
//! docker buildx prune --all
//! ```
//! ```allowed
//! docker ps
//! docker build -t x .
//! docker run --rm -v $PWD:/w x make
//! docker compose up -d
//! docker compose down
//! docker compose -f docker-compose.test.yml down -v
//! docker compose -p app-test down -v
//! docker image prune
//! docker logs x
//! docker exec c ls
//! docker stop x
//! docker rm x
//! podman images
//! docker run --rm x rm -rf /data
//! docker compose run --rm app pytest
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::pipes::Flow;
use crate::program::Program;
use crate::run::CommandRun;
use Reversibility::{R1, R3, R4};

/// Options with values of the client itself, and of `run`.
const GLOBAL: Program = Program::open(
    "c= H= l= f= p= name= volume= env= publish= network= workdir= user= entrypoint= mount= \
     env-file= hostname= label= memory= cpus= platform= restart= add-host= cap-add= cap-drop= \
     device= gpus= ipc= link= log-driver= log-opt= pid= pull= security-opt= shm-size= tmpfs= \
     ulimit= userns= volumes-from= index= dns= expose= cidfile= detach-keys= file= \
     project-name= profile= project-directory= context= host= log-level= filter=",
);
const RUN: Program = Program::open(
    "v= e= p= w= u= n= h= l= m= c= name= volume= env= publish= network= workdir= user= \
     entrypoint= mount= env-file= hostname= label= memory= cpus= platform= restart= add-host= \
     cap-add= cap-drop= device= gpus= ipc= link= log-driver= log-opt= pid= pull= security-opt= \
     shm-size= tmpfs= ulimit= userns= volumes-from= index= dns= expose= cidfile= detach-keys= \
     file= project-name= profile= project-directory= context= host= log-level= filter=",
);
const EXEC: Program = Program::open("e= u= w= env= user= workdir= env-file= detach-keys=");

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    if super::only_informs(run.args) {
        return;
    }
    let (_, at) = GLOBAL.parse_until(run.args, true);
    let args = run.args.get(at..).unwrap_or_default();
    let words = super::plain_words(args);
    let first = words.first().copied().unwrap_or("");
    let compose = run.name.ends_with("-compose");
    if first == "compose" || compose {
        let rest = if compose { args } else { args.get(1..).unwrap_or_default() };
        let (_, at) = GLOBAL.parse_until(rest, true);
        return self::compose(run, rest.get(at..).unwrap_or_default());
    }
    let rest = args.get(1..).unwrap_or_default();
    let flat = RUN.parse(rest);
    let all = flat.has("a", "all");
    let force = flat.on("f", "force");
    let target = words.join(" ");
    let second = words.get(1).copied().unwrap_or("");
    match (first, second) {
        ("system", "prune") => {
            let level = if flat.exact("volumes") { R4 } else { R3 };
            run.effect(
                EffectKind::Delete,
                &target,
                EffectScope::Outside,
                level,
                "deletes unused containers, networks and images",
            );
        }
        ("volume", "rm" | "remove" | "prune") => run.effect(
            EffectKind::Delete,
            &target,
            EffectScope::Outside,
            R4,
            "deletes volumes with their data",
        ),
        ("image" | "builder" | "buildx", "prune") if all => {
            run.ask(EffectKind::Delete, &target, EffectScope::Outside, "deletes every unused image")
        }
        ("container" | "network", "prune") => run.ask(
            EffectKind::Delete,
            &target,
            EffectScope::Outside,
            "deletes stopped containers or networks",
        ),
        (
            "network" | "secret" | "config" | "stack" | "service" | "node" | "context" | "plugin"
            | "pod" | "machine",
            "rm" | "remove",
        ) => run.ask(
            EffectKind::Delete,
            &target,
            EffectScope::Outside,
            "removes a part of the set-up",
        ),
        ("service", "scale") if words.iter().any(|word| word.ends_with("=0")) => run.ask(
            EffectKind::StopService,
            &target,
            EffectScope::Outside,
            "stops all of a service",
        ),
        ("swarm", "leave") if force => {
            run.ask(EffectKind::StopService, &target, EffectScope::Outside, "leaves the swarm")
        }
        ("rm", _) | ("container", "rm" | "remove") => {
            // One that is named as a trial holds nothing.
            let names = words.iter().skip(if first == "rm" { 1 } else { 2 });
            let mut names = names.peekable();
            let is_trial = names.peek().is_some() && names.all(|name| crate::sql::is_trial(name));
            if is_trial && !flat.has("v", "volumes") && !rest.iter().any(|arg| arg.dynamic) {
                return;
            }
            if force || flat.has("v", "volumes") || rest.iter().any(|arg| arg.dynamic) {
                run.ask(
                    EffectKind::Delete,
                    &target,
                    EffectScope::Outside,
                    "removes containers, running or not",
                );
            } else {
                run.effect(
                    EffectKind::Delete,
                    &target,
                    EffectScope::Outside,
                    Reversibility::R2,
                    "removes stopped containers",
                );
            }
        }
        ("rmi", _) | ("image", "rm" | "remove") => {
            if force || rest.iter().any(|arg| arg.dynamic) {
                run.ask(EffectKind::Delete, &target, EffectScope::Outside, "removes images");
            }
        }
        ("stop" | "kill", _) | ("container", "stop" | "kill") => {
            if rest.iter().any(|arg| arg.dynamic) || first == "kill" {
                run.ask(EffectKind::StopService, &target, EffectScope::Outside, "stops containers");
            }
        }
        ("run" | "create", _) | ("container", "run" | "create") => {
            start(run, if first == "container" { rest.get(1..).unwrap_or_default() } else { rest })
        }
        ("exec", _) | ("container", "exec") => {
            inside(run, if first == "container" { rest.get(1..).unwrap_or_default() } else { rest })
        }
        ("push", _) => run.effect(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            R3,
            "publishes an image",
        ),
        ("delete", _) if matches!(run.name, "colima" | "crane" | "skopeo") => run.effect(
            EffectKind::Delete,
            &target,
            EffectScope::Remote,
            R4,
            "deletes an image or a machine",
        ),
        ("reset", _) | ("system", "reset") => run.effect(
            EffectKind::Delete,
            &target,
            EffectScope::Outside,
            R4,
            "deletes containers and their data",
        ),
        ("buildx", "rm") | ("manifest", "rm") => {}
        _ => {}
    }
}

fn compose(run: &mut CommandRun<'_, '_>, args: &[Arg]) {
    let words = super::plain_words(args);
    let parsed = Program::open("t= timeout= rmi=").parse(args);
    match words.first() {
        // A project for tests is made anew by the next run.
        Some(&"down") if is_for_tests(run.args) => {}
        // The containers of a project can usually be refilled with one command.
        Some(&"down") if parsed.has("v", "volumes") => {
            let why = "deletes the volumes of the project with their data";
            match super::names_production(run.args) {
                true => run.effect(EffectKind::Delete, "volumes", EffectScope::Outside, R4, why),
                false => run.ask(EffectKind::Delete, "volumes", EffectScope::Outside, why),
            }
        }
        Some(&"down") if parsed.has("", "rmi") => {
            run.ask(EffectKind::Delete, "images", EffectScope::Outside, "removes images")
        }
        Some(&"rm") if parsed.has("v", "volumes") || parsed.on("f", "force") => {
            run.ask(EffectKind::Delete, "containers", EffectScope::Outside, "removes containers")
        }
        Some(&"up" | &"restart" | &"stop" | &"pull") if super::names_production(run.args) => {
            run.ask(
                EffectKind::RemoteState,
                "production",
                EffectScope::Outside,
                "changes what people use",
            );
        }
        Some(&"kill") => {
            run.ask(EffectKind::StopService, "containers", EffectScope::Outside, "stops containers")
        }
        Some(&"exec" | &"run") => inside(run, args.get(1..).unwrap_or_default()),
        _ => {}
    }
}

/// Whether the project or its file is named as one for tests.
fn is_for_tests(args: &[Arg]) -> bool {
    let (global, _) = GLOBAL.parse_until(args.get(1..).unwrap_or_default(), true);
    let direct = GLOBAL.parse_until(args, true).0;
    let mut files = Vec::new();
    for parsed in [&global, &direct] {
        if let Some(project) = parsed.value("p", "project-name") {
            return crate::sql::is_for_tests(project);
        }
        let given = parsed.options.iter().filter(|given| matches!(given.name, "f" | "file"));
        files.extend(given.filter_map(|given| given.value));
    }
    let is_test = |file: &&str| crate::sql::is_for_tests(file.rsplit('/').next().unwrap_or(""));
    files.last().is_some_and(is_test)
}

/// Reports the access to the host that a new container gets.
fn start(run: &mut CommandRun<'_, '_>, args: &[Arg]) {
    let (parsed, at) = RUN.parse_until(args, true);
    for given in &parsed.options {
        let value = given.value.unwrap_or("");
        let mount = matches!(given.name, "v" | "volume" | "mount");
        let source = value.split(':').next().unwrap_or("");
        let source = value
            .split(',')
            .find_map(|piece| piece.strip_prefix("source=").or_else(|| piece.strip_prefix("src=")))
            .unwrap_or(source);
        let host = mount
            && (matches!(
                source,
                "/" | "/etc"
                    | "/root"
                    | "/home"
                    | "/var"
                    | "/usr"
                    | "/boot"
                    | "~"
                    | "/dev"
                    | "/proc"
                    | "/sys"
            ) || source.ends_with("docker.sock")
                || source.ends_with("/.ssh")
                || source.ends_with("/.aws"));
        let privileged = given.name == "privileged"
            || (given.name == "pid" && value == "host")
            || (given.name == "cap-add" && matches!(value, "ALL" | "SYS_ADMIN" | "all"))
            || (given.name == "security-opt" && value.contains("unconfined"))
            || (given.name == "userns" && value == "host");
        if host || privileged {
            run.effect(
                EffectKind::Privilege,
                value,
                EffectScope::System,
                R1,
                "gives a container access to the host",
            );
        }
    }
    // The command runs inside; only what it mounts from the tree is ours.
    let inner = args.get(at + 1..).unwrap_or_default();
    let mounts_tree =
        parsed.options.iter().any(|given| matches!(given.name, "v" | "volume" | "mount"));
    if mounts_tree && !inner.is_empty() {
        run.inner(inner.to_vec(), Flow::Unknown);
    }
}

/// Analyzes the command that runs in an existing container.
fn inside(run: &mut CommandRun<'_, '_>, args: &[Arg]) {
    let (_, at) = EXEC.parse_until(args, true);
    let inner = args.get(at + 1..).unwrap_or_default();
    if !inner.is_empty() {
        let input = run.call.input.clone();
        super::carriers::elsewhere(run, EffectScope::Outside, |run| {
            run.inner(inner.to_vec(), input);
        });
    }
}
