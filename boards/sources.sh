#!/usr/bin/env bash
# Fetches what the machines of tests_device/ are built from, out of Debian's own packages.
#
#   boards/sources.sh PART...          every PART is idempotent; nothing is fetched twice
#
#   micropython pico-sdk tinyusb mbedtls    sources of trixie, unpacked into build/src/PART
#   micropython-next                        source of the Debian that is not yet released: 1.26, for make test-release
#   microbit                                firmware that bookworm has: a MicroPython of 2017, which odt refuses
#   cc clang wasm chromium multilib cmake arm-gcc riscv-gcc qemu node venv python-headers   commands, installed with
#                                           apt-get where missing
#
# The trixie source lists are written from the mirror that this machine's apt already uses, into a
# private apt state under build/apt: /etc stays as it is. MPY_DIR=<a full MicroPython checkout>
# replaces the four sources, on any system. Never compiles anything.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
src=${ODT_SRC_DIR:-$root/build/src}
apt=$root/build/apt
suite=trixie
missing= # packages that a person must install

say() { printf 'sources: %s\n' "$*"; }

die() {
    printf 'sources: %s\n' "$@" >&2
    exit 1
}

no_debian() {
    die "$1" \
        "The sources come from Debian's packages. On another system, clone MicroPython 1.25 with its" \
        "submodules and give it: make ... MPY_DIR=/path/to/micropython" \
        ${missing:+"Also install (Debian's names):$missing"}
}

# --- apt, with lists of our own ---------------------------------------------------------------

# The mirror: what apt already reads Debian from. Security and third-party archives do not count.
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 'Created-By: Packages' 2>/dev/null |
        sed -n 1p
}

mirror_unlisted() { # no list was ever downloaded here (a container image): go by the suite's name
    apt-get indextargets --no-release-info --format '$(RELEASE) $(REPO_URI)' \
        'Created-By: Packages' 2>/dev/null |
        sed -nE 's/^(bookworm|trixie|stable|oldstable) //p' | sed -n 1p
}

private_apt() { # private_apt LIST COMMAND...: apt with a list of ours; /etc and its lists stay as they are
    local list=$1
    shift
    "$@" -qq -o Dir::Etc::sourcelist="$apt/$list.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$apt/lists" \
        -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root -o APT::Get::List-Cleanup=0 \
        -o DPkg::Lock::Timeout=900 -o Acquire::Retries=3
}

prepare_apt() {
    [ -z "${apt_ready:-}" ] || return 0
    command -v apt-get >/dev/null || no_debian "there is no apt-get here."
    local uri release
    uri=$(mirror)
    [ -n "$uri" ] || uri=$(mirror_unlisted)
    [ -n "$uri" ] || no_debian "apt knows no Debian mirror here."
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    # Two lists, so that installing a backport can never draw a newer release's libc in.
    printf '%s\n' "deb-src $uri $suite main" "deb $uri $suite main" >"$apt/sources.list"
    printf '%s\n' "deb-src $uri unstable main" >"$apt/next.list"
    if [ "$release" != "$suite" ]; then
        printf '%s\n' "deb $uri $release main" "deb $uri $release-backports main" >"$apt/backports.list"
    fi
    # Lists older than a day may name packages that the mirror has replaced since.
    if [ -z "$(find "$apt/updated" -mmin -1440 2>/dev/null)" ]; then
        say "reading Debian's package lists"
        private_apt sources apt-get update || die "apt-get update failed."
        if [ "$release" != "$suite" ]; then
            private_apt backports apt-get update || die "apt-get update failed for $release-backports."
        fi
        touch "$apt/updated"
    fi
    apt_ready=1
}

# --- sources ----------------------------------------------------------------------------------

# fetch_source PART PACKAGE VERSION-PREFIX [LIST]: a Debian source package, patched as Debian patches it.
fetch_source() {
    local part=$1 package=$2 wanted=$3 list=${4:-sources} version work
    [ ! -e "$src/$part/.complete" ] || return 0
    prepare_apt
    need dpkg-source dpkg-dev
    say_missing
    version=$(private_apt $list apt-cache showsrc "$package" | sed -n "s/^Version: //p" |
        grep -E "^([0-9]+:)?$wanted" | sort -V | tail -n 1) || true
    [ -n "$version" ] || die "the mirror has no source package $package $wanted."
    say "fetching $package $version"
    work=$(mktemp -d "$apt/unpack.XXXXXX")
    (cd "$work" && private_apt $list apt-get source --only-source "$package=$version" >/dev/null) ||
        die "could not fetch the source package $package $version."
    publish "$part" "$(find "$work" -mindepth 1 -maxdepth 1 -type d)" "$package $version"
    rm -rf "$work"
}

# fetch_binary PART PACKAGE VERSION-PREFIX FOLDER [LIST]: a folder out of an architecture-independent
# package that holds sources (/usr/src/...). It is unpacked, not installed: no root needed.
fetch_binary() {
    local part=$1 package=$2 wanted=$3 folder=$4 list=${5:-sources} version work
    [ ! -e "$src/$part/.complete" ] || return 0
    prepare_apt
    version=$(private_apt $list apt-cache madison "$package" | awk -F'|' '/Packages/ {gsub(/ /, "", $2); print $2}' |
        grep -E "^([0-9]+:)?$wanted" | sort -V | tail -n 1) || true
    [ -n "$version" ] || die "the mirror has no package $package $wanted."
    say "fetching $package $version"
    work=$(mktemp -d "$apt/unpack.XXXXXX")
    (cd "$work" && private_apt $list apt-get download "$package=$version" >/dev/null) ||
        die "could not fetch the package $package $version."
    dpkg-deb -x "$work"/*.deb "$work/root"
    [ -d "$work/root/$folder" ] || die "$package $version has no folder $folder."
    publish "$part" "$work/root/$folder" "$package $version"
    rm -rf "$work"
}

publish() { # a part appears whole or not at all, also when two builds fetch it at the same time
    echo "$3" >"$2/.complete"
    mkdir -p "$src"
    rm -rf "$src/$1"
    mv -T "$2" "$src/$1" 2>/dev/null || [ -e "$src/$1/.complete" ] || die "could not write $src/$1."
}

# The Debian source leaves submodule folders empty. Those that a build here needs become links.
link_submodule() {
    local folder=$src/micropython/lib/$1
    [ -e "$src/micropython/.complete" ] && [ -e "$src/$2/.complete" ] || return 0
    [ "$(readlink "$folder")" != "../../$2" ] || return 0 # others may be reading through it
    if [ -d "$folder" ] && [ ! -L "$folder" ]; then rmdir "$folder" 2>/dev/null || return 0; fi
    ln -sfn "../../$2" "$folder"
}

# The build refuses an empty micropython-lib before it knows that no manifest require()s anything.
fill_micropython_lib() {
    local folder=$src/$1/lib/micropython-lib
    [ -e "$folder/README.md" ] && return 0
    mkdir -p "$folder"
    echo "Empty on purpose: the manifests of odt require() nothing." >"$folder/README.md"
}

# --- commands ---------------------------------------------------------------------------------

say_missing() {
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || die "there is no apt-get here: please install (Debian's names)$missing"
    die "please install as root: apt-get install$missing"
}

# need COMMAND PACKAGE...: installs when the command is missing.
need() {
    local command=$1
    shift
    command -v "$command" >/dev/null 2>&1 || install "" "$@"
}

# install SUITE PACKAGE...: an empty suite leaves the choice to apt's own sources. What cannot be
# installed is noted, so that a person hears of all of it at once.
install() {
    local from=$1 sudo=
    shift
    [ "$(id -u)" = 0 ] || sudo="sudo -n"
    if ! command -v apt-get >/dev/null || ! $sudo true 2>/dev/null; then
        missing="$missing $*"
        return
    fi
    say "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    if [ -n "$from" ]; then
        prepare_apt
        # shellcheck disable=SC2086
        private_apt backports $sudo apt-get -y --no-install-recommends -t "$from" install "$@" \
            >"$apt/install.log" 2>&1 || {
            tail -n 20 "$apt/install.log" >&2
            die "could not install $* from $from."
        }
        return
    fi
    mkdir -p "$apt"
    local options="-y -qq --no-install-recommends -o DPkg::Lock::Timeout=900"
    # shellcheck disable=SC2086
    $sudo apt-get $options install "$@" >"$apt/install.log" 2>&1 || {
        $sudo apt-get -qq -o DPkg::Lock::Timeout=900 update >>"$apt/install.log" 2>&1 || true
        # shellcheck disable=SC2086
        $sudo apt-get $options install "$@" >"$apt/install.log" 2>&1 || {
            tail -n 20 "$apt/install.log" >&2
            die "could not install $*."
        }
    }
}

# need_qemu COMMAND PACKAGE: version 10 is the one that the emulated boards were tried with; bookworm has 7.2
need_qemu() {
    local major
    major=$("$1" --version 2>/dev/null | sed -nE '1s/.*version ([0-9]+)\..*/\1/p') || true
    [ "${major:-0}" -lt 10 ] || return 0
    if (. /etc/os-release && [ "${VERSION_CODENAME:-}" = bookworm ]); then
        install bookworm-backports "$2"
    else
        install "" "$2"
    fi
}

need_arm_gcc() {
    need arm-none-eabi-gcc gcc-arm-none-eabi
    [ -e "$(arm-none-eabi-gcc -print-file-name=libc.a 2>/dev/null)" ] || install "" libnewlib-arm-none-eabi
    # The RP2040's SDK compiles a few C++ files.
    [ -e "$(arm-none-eabi-gcc -print-file-name=libstdc++.a 2>/dev/null)" ] ||
        install "" libstdc++-arm-none-eabi-newlib
}

need_riscv_gcc() { # Debian's compiler for RISC-V has no C library of its own
    need riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf
    riscv64-unknown-elf-gcc --specs=picolibc.specs -E -x c /dev/null >/dev/null 2>&1 ||
        install "" picolibc-riscv64-unknown-elf
}

need_multilib() { # a 32-bit unix port
    echo 'int main(void) { return 0; }' | gcc -m32 -x c -o /dev/null - 2>/dev/null ||
        install "" gcc-multilib
}

need_clang() { # with libFuzzer, which Debian packs apart, by version
    command -v clang >/dev/null || install "" clang
    command -v clang >/dev/null || return 0
    [ -n "$(find "$(clang -print-resource-dir)/lib" -name 'libclang_rt.fuzzer*.a' 2>/dev/null)" ] ||
        install "" "libclang-rt-$(clang -dumpversion | sed 's/\..*//')-dev"
}

need_venv() {
    command -v python3 >/dev/null || install "" python3 python3-venv
    python3 -c 'import ensurepip, venv' 2>/dev/null || install "" python3-venv
}

need_python_headers() { # of the python3 that runs; a Python that is not Debian's brings its own
    python3 -c 'import os, sysconfig
exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' || install "" python3-dev
}

# --- parts ------------------------------------------------------------------------------------

fetch_part() {
    case $1 in
    micropython)
        if [ -n "${MPY_DIR:-}" ]; then
            [ -e "$MPY_DIR/py/mpconfig.h" ] || die "MPY_DIR=$MPY_DIR is no MicroPython checkout."
            return
        fi
        fetch_source micropython micropython 1.25
        fill_micropython_lib micropython
        ;;
    micropython-next)
        prepare_apt
        private_apt next apt-get update || die "apt-get update failed for Debian unstable."
        fetch_source micropython-next micropython 1. next
        fill_micropython_lib micropython-next
        ;;
    pico-sdk | tinyusb | mbedtls)
        [ -z "${MPY_DIR:-}" ] || return 0 # a full checkout brings its submodules
        case $1 in
        pico-sdk) fetch_binary pico-sdk pico-sdk-source 2.1.1 usr/src/pico-sdk ;;
        tinyusb) fetch_binary tinyusb tinyusb-source 0.18 usr/src/tinyusb ;;
        mbedtls) fetch_source mbedtls mbedtls 3.6 ;;
        esac
        ;;
    microbit)
        (. /etc/os-release 2>/dev/null && [ "${VERSION_CODENAME:-}" = bookworm ]) || return 0
        fetch_binary microbit firmware-microbit-micropython 1.0 usr/share/firmware-microbit-micropython backports
        ;;
    cc) need make make && need gcc gcc libc6-dev ;;
    clang) need_clang ;;
    wasm) need clang clang && need wasm-ld lld ;;
    chromium) need chromium chromium && need fc-list fontconfig fonts-dejavu-core ;;
    multilib) need gcc gcc libc6-dev && need_multilib ;;
    cmake) need cmake cmake ;;
    arm-gcc) need make make && need_arm_gcc ;;
    riscv-gcc) need make make && need_riscv_gcc ;;
    qemu) need_qemu qemu-system-arm qemu-system-arm && need_qemu qemu-system-riscv32 qemu-system-riscv ;;
    node) need node nodejs && need npm npm ;;
    venv) need_venv ;;
    python-headers) need gcc gcc libc6-dev && need_python_headers ;;
    *) die "no part is called $1; see the first lines of $0." ;;
    esac
}

[ $# -gt 0 ] || die "which part? See the first lines of $0."
for part in "$@"; do
    fetch_part "$part"
done
say_missing
if [ -z "${MPY_DIR:-}" ]; then
    link_submodule pico-sdk pico-sdk
    link_submodule tinyusb tinyusb
    link_submodule mbedtls mbedtls
fi
