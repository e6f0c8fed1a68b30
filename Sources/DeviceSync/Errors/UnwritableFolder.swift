internal import Foundation

/// What is to be done with a realm in a folder that nobody can write: a reader, too, needs the log beside the file.
enum UnwritableFolder {
    /// The same error, or one that names the folder where that is the reason.
    static func named(_ error: Realm.Error) -> Realm.Error {
        let manager = FileManager.default
        guard let url = error.fileURL, manager.fileExists(atPath: url.path),
            !manager.isWritableFile(atPath: url.deletingLastPathComponent().path)
        else { return error }
        return Realm.Error(
            .filePermissionDenied,
            error.message
                + ". Its folder cannot be written: make the realm with writeCopy(configuration:), and name it as the "
                + "seedFilePath of a realm in a folder of the app's own", fileURL: url)
    }
}
