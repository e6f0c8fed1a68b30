import Foundation
package import Storage
package import SyncModel

/// Examines the stores and the folder that they are kept in, without changing anything.
package struct StoreDoctor: Sendable {
    /// How bad it is that a disk has so many bytes free: a fault below 256 MiB, a warning below 2 GiB; of a small disk below a twentieth
    /// and a tenth of it.
    static func level(free: UInt64, of size: UInt64) -> Diagnosis.Level {
        free < min(256 << 20, size / 20) ? .fault : free < min(2 << 30, size / 10) ? .warning : .ok
    }

    /// A write-ahead log of this many bytes is held by something: a long read, or an owner that cannot empty it.
    static let longLog: UInt64 = 1 << 30

    let stores: any StoreInspector
    let slices: SliceCount
    /// Whether to read everything that is stored, to find damage.
    let checksIntegrity: Bool

    package init(stores: any StoreInspector, slices: SliceCount, checksIntegrity: Bool) {
        self.stores = stores
        self.slices = slices
        self.checksIntegrity = checksIntegrity
    }

    package func examine() async -> [Diagnosis] {
        let existing: [SliceNumber]
        do {
            existing = try await stores.slices()
        } catch {
            guard error.code == .unavailable else {
                return .one(.store, "folder", .fault, error.message, "set store.url to what the workers have")
            }
            return .one(
                .store, stores.files == nil ? "database" : "folder", .fault, error.words,
                stores.files == nil
                    ? "see that the database runs and can be reached; syncing goes on when it is back"
                    : "see that the disk is there and has room")
        }
        var found: [Diagnosis] = []
        if let folder = stores.files?.folder { found += [space(folder), privacy(folder)] }
        found.append(await durability())
        found.append(await control())
        found += await missing(existing)
        found += await slices(existing)
        return found
    }

    /// Slices that the cluster has made and that have no file: nobody makes them again by itself.
    private func missing(_ existing: [SliceNumber]) async -> [Diagnosis] {
        guard let made = try? await stores.slicesMade() else { return [] }
        return made.keys.filter { !existing.contains($0) }.sorted().map { slice in
            Diagnosis(
                .store, "slice \(slice)", .fault,
                "\(stores.files?.slice(slice).data ?? "its store") is missing, though the cluster has made it",
                "see that the disk is mounted, or restore it; sluice store adopt says what going on without it means")
        }
    }

    private func space(_ folder: String) -> Diagnosis {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else {
            return Diagnosis(.store, "disk", .fault, "\(folder) cannot be looked at", "see that the disk is mounted")
        }
        let free = UInt64(status.f_bavail) &* UInt64(status.f_frsize)
        let size = UInt64(status.f_blocks) &* UInt64(status.f_frsize)
        let text = "\(free >> 20) MiB free for \(folder)"
        let level = Self.level(free: free, of: size)
        let advice: String? =
            switch level {
            case .fault: "make room now: workers stop when a commit does not fit"
            case .warning: "make room"
            case .ok, .unchecked: nil
            }
        return Diagnosis(.store, "disk", level, text, advice)
    }

    private func durability() async -> Diagnosis {
        do {
            if let obstacle = try await stores.obstacle() {
                return Diagnosis(.store, "durability", .fault, obstacle, "until then no change is acknowledged")
            }
            let durability = try await stores.durability()
            let finding = "an acknowledged change is \(durability.meaning)"
            switch durability {
            case .memory:
                return Diagnosis(
                    .store, "durability", .warning, finding,
                    "have commits wait for the disk: synchronous_commit, and fsync, on the database server")
            case .oneDisk, .diskAndMemory, .twoDisks: return Diagnosis(.store, "durability", .ok, finding)
            }
        } catch {
            return Diagnosis(.store, "durability", .fault, error.message, "see that the store can be read")
        }
    }

    private func privacy(_ folder: String) -> Diagnosis {
        guard let facts = FileFacts(folder) else {
            return Diagnosis(.store, "privacy", .fault, "\(folder) cannot be looked at", "see who may read it")
        }
        let open = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { name in
            name.contains(".sqlite") && (FileFacts("\(folder)/\(name)")?.mode ?? 0) & 0o007 != 0
        }
        guard facts.mode & 0o007 != 0, let first = open.first else {
            return Diagnosis(.store, "privacy", .ok, "others cannot read \(folder)")
        }
        return Diagnosis(
            .store, "privacy", .warning, "everybody on this machine can read \(first) (\(open.count) such files)",
            "chmod 700 \(folder)")
    }

    private func control() async -> Diagnosis {
        do {
            guard let recorded = try await stores.recordedSliceCount() else {
                return Diagnosis(
                    .store, "control", .warning, "the store does not say how many slices the cluster has",
                    "start a coordinator or a worker, which writes it down")
            }
            guard recorded == slices.value else {
                return Diagnosis(
                    .store, "control", .fault,
                    "the cluster was created with \(recorded.counted("slice")), and the settings say \(slices.value)",
                    "set SLUICE_SLICES=\(recorded); sluice slices grow gives a cluster more")
            }
            if checksIntegrity, let first = try await stores.controlProblems(limit: 3).first {
                return Diagnosis(
                    .store, "control", .fault, "\(controlPlace) is damaged: \(first)",
                    "stop the cluster and restore the control store from a backup")
            }
            return Diagnosis(
                .store, "control", .ok, "\(recorded.counted("slice"))\(checksIntegrity ? ", file sound" : "")")
        } catch {
            return Diagnosis(
                .store, "control", .fault, "\(error)", "see that \(controlPlace) exists and may be read")
        }
    }

    private var controlPlace: String { stores.files?.control ?? "the control store" }

    /// Clients whose writes win every conflict, since they say that they come later.
    private func clocks(_ reader: any SliceReader) async throws -> [Diagnosis] {
        let now = SyncTimestamp(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        let shown = 10
        let files = try await reader.clientFilesAhead(limit: 1_000).filter { $0.record.ahead ?? 0 > now }
        guard !files.isEmpty else { return [] }
        let names = files.prefix(shown).map { file in
            "client file \(file.record.ident) of user \(file.record.user) in \(file.name)"
        }
        return .one(
            .store, "slice \(reader.slice)", .warning,
            "clients have dated their latest changes ahead, so that these win every conflict: "
                + names.joined(separator: ", ") + (files.count > shown ? " and others" : ""),
            "docs/resets.md, \"Clocks that are ahead\"; sluice realms show has the times")
    }

    private func slices(_ existing: [SliceNumber]) async -> [Diagnosis] {
        var found: [Diagnosis] = []
        var realms = 0
        for slice in existing where slice.value < slices.value {
            do {
                let reader = try await stores.reader(for: slice)
                try await reader.forEachRealm { _ in realms += 1 }
                found += try await clocks(reader)
                if checksIntegrity, let first = try await reader.problems(limit: 3).first {
                    let place = stores.files?.slice(slice).data ?? "it"
                    found.add(
                        .store, "slice \(slice)", .fault, "\(place) is damaged: \(first)",
                        "stop the workers and restore the file from a backup")
                }
            } catch {
                found.add(
                    .store, "slice \(slice)", .fault, "\(error)", "see that the file may be read, and by which version")
            }
            let log = stores.files.flatMap { FileFacts($0.slice(slice).log) }?.size ?? 0
            if log > Self.longLog {
                found.add(
                    .store, "slice \(slice)", .warning, "its write-ahead log has \(log >> 20) MiB",
                    "end what reads the store for long (verify, export, backups)")
            }
        }
        let beyond = existing.filter { $0.value >= slices.value }
        if !beyond.isEmpty {
            found.add(
                .store, "slices", .fault,
                "there are \(beyond.count.counted("file")) of slices beyond \(slices.value - 1)",
                "set SLUICE_SLICES to what the cluster was created with")
        }
        let present = existing.count - beyond.count
        if present < slices.value {
            found.add(
                .store, "slices", .warning, "\(present) of \(slices.value.counted("slice")) have a file",
                "start a worker, which makes those that were never made")
        }
        if found.isEmpty {
            found.add(
                .store, "slices", .ok,
                "\(present.counted("slice")), \(realms.counted("realm"))\(checksIntegrity ? ", files sound" : ", files not checked")"
            )
        }
        return found
    }
}
