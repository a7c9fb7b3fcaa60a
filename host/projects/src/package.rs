//! A finished plugin as it is passed on: a component, the folder of a project, or an archive of
//! either.

use std::fs;
use std::io::Read;
use std::path::Path;

use syrch::syrch_core::Grants;

use crate::archive::{self, Files};
use crate::signature::{ENDING, Signature, path_beside};
use crate::{Error, FILE, cosign, definition};

/// Bytes of a file that is read at most.
const LARGEST: u64 = 128 << 20;

/// A component with what its project says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The bytes of the component, which nobody has checked.
    pub component: Vec<u8>,
    /// The name in its `plugin.yml`, else that of its file.
    pub name: String,
    /// The grants that its `plugin.yml` asks for; `None` if it does not say.
    pub wants: Option<Grants>,
    /// The signature that stands beside the component; `None` if there is none.
    pub signature: Option<Signature>,
    /// The text of the bundle of Sigstore beside the component; `None` if there is none.
    pub bundle: Option<Vec<u8>>,
}

impl Package {
    /// Reads a component, the folder of a project that is built, or a tar archive of either, packed
    /// by gzip or not. Nothing is run and nothing is written.
    ///
    /// # Errors
    /// When there is no component in it or several, its `plugin.yml` is wrong, or a path or a link
    /// leads out of it.
    pub fn read(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return from_folder(path);
        }
        let bytes = read_file(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if name.ends_with(".wasm") {
            let signature = read_signature(path)?;
            let bundle = read_bundle(path)?;
            let name = stem(&name);
            return Ok(Self { component: bytes, name, wants: None, signature, bundle });
        }
        let files = archive::read(&bytes).map_err(|why| Error::file(path, why))?;
        choose(files, path)
    }
}

/// Reads what the folder of a project has: its definition and the components in it and in `build`.
fn from_folder(folder: &Path) -> Result<Package, Error> {
    let mut files = Files::new();
    for place in ["", "build"] {
        let inside = folder.join(place);
        if inside.is_symlink() && !place.is_empty() {
            return Err(Error::file(&inside, "is a symbolic link"));
        }
        let Ok(entries) = fs::read_dir(&inside) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let signed = name.strip_suffix(ENDING).or_else(|| name.strip_suffix(cosign::ENDING));
            if name != FILE && !is_component(signed.unwrap_or(&name)) {
                continue;
            }
            let path = entry.path();
            if path.is_symlink() {
                return Err(Error::file(&path, "is a symbolic link"));
            }
            let key = if place.is_empty() { name } else { format!("{place}/{name}") };
            files.insert(key, read_file(&path)?);
        }
    }
    choose(files, folder)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let data = fs::metadata(path).map_err(|error| Error::file(path, error))?;
    if !data.is_file() {
        return Err(Error::file(path, "is no plain file"));
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| Error::file(path, error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::file(path, format!("has more than {LARGEST} bytes")));
    }
    Ok(bytes)
}

/// The signature in the file beside a component; `None` if there is none.
fn read_signature(component: &Path) -> Result<Option<Signature>, Error> {
    let path = path_beside(component);
    if !path.exists() {
        return Ok(None);
    }
    parse_signature(&read_file(&path)?, path.display().to_string()).map(Some)
}

/// The bundle in the file beside a component; `None` if there is none.
fn read_bundle(component: &Path) -> Result<Option<Vec<u8>>, Error> {
    let mut path = component.as_os_str().to_owned();
    path.push(cosign::ENDING);
    let path = Path::new(&path);
    if !path.exists() {
        return Ok(None);
    }
    check_bundle(read_file(path)?, path.display().to_string()).map(Some)
}

/// Refuses the text of a bundle that nobody would read.
pub(crate) fn check_bundle(text: Vec<u8>, path: String) -> Result<Vec<u8>, Error> {
    if text.len() > cosign::LONGEST {
        return Err(Error::Signature { path, why: "is too long for a bundle".to_owned() });
    }
    Ok(text)
}

/// Reads a signature that stands at a path or an address.
pub(crate) fn parse_signature(text: &[u8], path: String) -> Result<Signature, Error> {
    Signature::parse(text).map_err(|why| Error::Signature { path, why })
}

/// Returns true for the name of a component that a build has finished.
fn is_component(name: &str) -> bool {
    name.ends_with(".wasm") && !name.ends_with(".unchecked.wasm")
}

fn stem(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_suffix(".wasm").unwrap_or(name).to_owned()
}

/// The package among files: the component that the one `plugin.yml` names, or the only one.
fn choose(mut files: Files, source: &Path) -> Result<Package, Error> {
    let definitions: Vec<&String> =
        files.keys().filter(|path| path.rsplit('/').next() == Some(FILE)).collect();
    let (name, wants, folder) = match definitions.as_slice() {
        [] => (None, None, String::new()),
        [path] => {
            let text = files.get(*path).map(Vec::as_slice).unwrap_or_default();
            let text = std::str::from_utf8(text)
                .map_err(|_| Error::file(source, format!("`{path}` is no UTF-8")))?;
            let project = definition::parse(text, path, Path::new("."));
            let project = project.map_err(|error| Error::file(source, error))?;
            let folder = path.strip_suffix(FILE).unwrap_or_default().to_owned();
            (Some(project.name.as_str().to_owned()), project.wants, folder)
        }
        _ => return Err(Error::file(source, format!("has several {FILE}"))),
    };
    let built = name.as_ref().map(|name| format!("{folder}build/{name}.wasm"));
    let mut found: Vec<String> = files.keys().filter(|path| is_component(path)).cloned().collect();
    if let Some(built) = built.filter(|built| found.contains(built)) {
        found = vec![built];
    }
    match found.as_slice() {
        [path] => {
            let component = files.remove(path).unwrap_or_default();
            let signature = files.remove(&format!("{path}{ENDING}"));
            let place = source.join(format!("{path}{ENDING}")).display().to_string();
            let signature = signature.map(|text| parse_signature(&text, place)).transpose()?;
            let bundle = files.remove(&format!("{path}{}", cosign::ENDING));
            let place = source.join(format!("{path}{}", cosign::ENDING)).display().to_string();
            let bundle = bundle.map(|text| check_bundle(text, place)).transpose()?;
            let name = name.unwrap_or_else(|| stem(path));
            Ok(Package { component, name, wants, signature, bundle })
        }
        [] => {
            Err(Error::file(source, "has no component: build it first, or ask its author for one"))
        }
        _ => Err(Error::file(source, "has several components: name the file of one")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SigningKey;
    use crate::archive::tests::pack;

    const DEFINITION: &[u8] =
        b"name: short\nlanguage: c\nroles: [reward]\nwants: [sql, rows=none, statements=3]\n";

    #[test]
    fn a_file_a_folder_and_an_archive_are_the_same_package() {
        let scratch = syrch_kit::scratch();
        let folder = scratch.path().join("p");
        fs::create_dir_all(folder.join("build")).unwrap();
        fs::write(folder.join(FILE), DEFINITION).unwrap();
        fs::write(folder.join("build/short.wasm"), b"component").unwrap();
        fs::write(folder.join("build/short.unchecked.wasm"), b"other").unwrap();
        let (key, _) = SigningKey::generate().unwrap();
        let signature = key.sign(b"component").to_text();
        fs::write(folder.join("build/short.wasm.sig"), &signature).unwrap();
        fs::write(folder.join("build/short.wasm.sigstore.json"), "{}").unwrap();
        let package = Package::read(&folder).unwrap();
        let wants: Vec<String> = package.wants.clone().unwrap().into();
        assert_eq!((package.name.as_str(), wants.len()), ("short", 3));
        let signer = package.signature.as_ref().and_then(|one| one.verify(b"component"));
        assert_eq!(signer, Some(key.public_key()));
        let archive = scratch.path().join("short.tar");
        let whole: [(&str, u8, &[u8]); 5] = [
            ("p/build/short.wasm.sigstore.json", b'0', b"{}"),
            ("p/build/short.wasm.sig", b'0', signature.as_bytes()),
            ("p/plugin.yml", b'0', DEFINITION),
            ("p/build/short.wasm", b'0', b"component"),
            ("p/sdk/example.wasm", b'0', b"another"),
        ];
        fs::write(&archive, pack(&whole)).unwrap();
        assert_eq!(Package::read(&archive).unwrap(), package);
        let alone = Package::read(&folder.join("build/short.wasm")).unwrap();
        assert_eq!(alone, Package { wants: None, ..package });
        assert_eq!(alone.bundle.as_deref(), Some(&b"{}"[..]));
        let long = " ".repeat(cosign::LONGEST + 1);
        fs::write(folder.join("build/short.wasm.sigstore.json"), &long).unwrap();
        for path in [folder.clone(), folder.join("build/short.wasm")] {
            let error = Package::read(&path).unwrap_err().to_string();
            assert!(error.contains("too long for a bundle"), "{error}");
        }
        fs::remove_file(folder.join("build/short.wasm.sigstore.json")).unwrap();
        fs::write(folder.join("build/short.wasm.sig"), "no signature").unwrap();
        for path in [folder.clone(), folder.join("build/short.wasm")] {
            let error = Package::read(&path).unwrap_err().to_string();
            assert!(error.contains("is no signature"), "{error}");
        }
    }

    #[test]
    fn a_package_has_one_component_and_no_link() {
        let scratch = syrch_kit::scratch();
        let archive = scratch.path().join("x.tgz");
        let nothing: &[u8] = b"";
        let wrong: &[u8] = b"name: ../x\n";
        for (entries, why) in [
            (vec![("a.txt", b'0', nothing)], "no component"),
            (vec![("a.wasm", b'0', nothing), ("b.wasm", b'0', nothing)], "several components"),
            (vec![("a/plugin.yml", b'0', DEFINITION), ("plugin.yml", b'0', DEFINITION)], "several"),
            (vec![("plugin.yml", b'0', wrong), ("a.wasm", b'0', nothing)], "no name"),
            (vec![("../a.wasm", b'0', nothing)], "leads out"),
            (vec![("a.wasm", b'2', nothing)], "link"),
        ] {
            fs::write(&archive, pack(&entries)).unwrap();
            let error = Package::read(&archive).unwrap_err().to_string();
            assert!(error.contains(why), "{why}: {error}");
        }
        assert!(Package::read(&scratch.path().join("none.wasm")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_with_a_link_is_refused() {
        let scratch = syrch_kit::scratch();
        std::os::unix::fs::symlink("/etc/passwd", scratch.path().join("a.wasm")).unwrap();
        let error = Package::read(scratch.path()).unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
    }
}
