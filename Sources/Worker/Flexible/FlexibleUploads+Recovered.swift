import Changesets
import Logging
import Operations
import RealmState
import Storage
import SyncModel
import Views

/// What clients go on with after a reset (docs/flexible.md, "What comes again after a reset").
extension FlexibleUploads {
    /// Leaves out what a changeset does to objects that others have changed so that it does not fit any more. Were the upload refused for that, the
    /// client would have to reset, and would send the same again.
    func leaveOutWhatDoesNotFit(
        of trial: inout WriteTrial, _ entry: UploadedChangeset, by file: ClientFileRecord
    ) async throws {
        let unfit = try await unfit(among: trial.recovered, in: trial.changeset)
        guard !unfit.isEmpty else { return }
        for address in unfit { trial.leaveOut(address) }
        reportLeftOut(unfit, entry, by: file)
    }

    /// The objects that a client goes on with and that are not any more as what it does to them wants them.
    private func unfit(
        among recovered: [ObjectAddress], in changeset: Changeset
    ) async throws -> [ObjectAddress] {
        guard !recovered.isEmpty else { return [] }
        do {
            let parts = try changeset.parts(of: recovered)
            try await work.load(parts.objects.values, into: context)
            work.cost += Uploads.cost(toApply: changeset)
            return try work.change(context).attempt { state in
                // That a changeset is no good at all its own turn tells.
                guard (try? state.apply(parts.schema)) != nil else { return [] }
                return recovered.filter { address in
                    guard let part = parts.objects[address] else { return false }
                    state.begin()
                    defer { state.rollback() }
                    return (try? state.apply(part)) == nil
                }
            }
        } catch let error as ChangesetError {
            throw BadChangesetError(reason: "\(error)")
        }
    }

    /// Says what of a client's recovered writes was left out, of which nobody hears otherwise.
    private func reportLeftOut(_ addresses: [ObjectAddress], _ entry: UploadedChangeset, by file: ClientFileRecord) {
        logger.notice(
            "recovered writes left out: they do not fit what others have made of the objects",
            metadata: .about(
                context.name, clientFile: file.ident,
                [
                    "client_version": "\(entry.clientVersion)",
                    "classes": "\(Set(addresses.map(\.className.string)).sorted().prefix(10).joined(separator: ", "))",
                    "objects": "\(addresses.count)",
                ]))
    }
}
