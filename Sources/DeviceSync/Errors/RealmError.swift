public import Foundation

extension Realm {
    /// Why a realm could not be opened, written or copied.
    public struct Error: Swift.Error, CustomNSError, LocalizedError, Sendable, Equatable, CustomStringConvertible {
        /// The kind of failure, with Realm's numbers.
        public enum Code: Int, Sendable {
            /// Any other failure.
            case fail = 1
            /// The file could not be read or written.
            case fileAccess = 2
            /// The file's permissions forbid it.
            case filePermissionDenied = 3
            /// There is a file already.
            case fileExists = 4
            /// There is no such file.
            case fileNotFound = 5
            /// The file is of an older format.
            case fileFormatUpgradeRequired = 6
            /// Another process uses the file in an incompatible way.
            case incompatibleLockFile = 8
            /// No memory.
            case addressSpaceExhausted = 9
            /// The file's schema and the app's do not go together.
            case schemaMismatch = 10
            /// The file is open.
            case alreadyOpen = 12
            /// An argument is not valid.
            case invalidInput = 13
            /// The disk is full.
            case outOfDiskSpace = 14
            /// Another process syncs the file.
            case incompatibleSession = 15
            /// The file is of an unknown format.
            case unsupportedFileFormatVersion = 16
            /// More than one process syncs the file.
            case multipleSyncAgents = 17
            /// A subscription failed.
            case subscriptionFailed = 18
            /// A file could not be copied, moved or deleted.
            case fileOperationFailed = 19
            /// The file is not a realm, or is damaged.
            case invalidDatabase = 20
            /// The file's history does not go with the configuration.
            case incompatibleHistories = 21
            /// A write outside of all subscriptions.
            case noSubscriptionForWrite = 22
        }

        /// The kind of failure.
        public let code: Code
        /// The sentence.
        public let message: String
        /// The file concerned.
        public let fileURL: URL?

        /// An error of an app's own, such as one that ends a write.
        public init(_ code: Code, userInfo: [String: Any] = [:]) {
            self.init(code, userInfo[NSLocalizedDescriptionKey] as? String ?? "\(code)")
        }

        init(_ code: Code, _ message: String, fileURL: URL? = nil) {
            self.code = code
            self.message = message
            self.fileURL = fileURL
        }

        /// Whether another try may succeed later: the disk was full, or another process had locked the file.
        var mayPass: Bool { code == .outOfDiskSpace || code == .fileAccess }

        /// `io.realm`.
        public static var errorDomain: String { "io.realm" }
        /// The code's number.
        public var errorCode: Int { code.rawValue }
        /// The sentence and the file.
        public var errorUserInfo: [String: Any] {
            var info: [String: Any] = [NSLocalizedDescriptionKey: message]
            info[NSFilePathErrorKey] = fileURL?.path
            return info
        }
        /// The sentence.
        public var errorDescription: String? { message }
        /// Code and sentence.
        public var description: String { "\(code): \(message)" }

        /// Any other failure.
        public static let fail = Code.fail
        /// A call that has failed, nobody knows why.
        public static let callFailed = Realm.Error(.fail, "Call failed")
        /// The file could not be read or written.
        public static let fileAccess = Code.fileAccess
        /// There is a file already.
        public static let fileExists = Code.fileExists
        /// There is no such file.
        public static let fileNotFound = Code.fileNotFound
        /// The file's schema and the app's do not go together.
        public static let schemaMismatch = Code.schemaMismatch
        /// The file is open.
        public static let alreadyOpen = Code.alreadyOpen
        /// An argument is not valid.
        public static let invalidInput = Code.invalidInput
        /// The file's permissions forbid it.
        public static let filePermissionDenied = Code.filePermissionDenied
        /// The file is of an older format.
        public static let fileFormatUpgradeRequired = Code.fileFormatUpgradeRequired
        /// Another process uses the file in an incompatible way.
        public static let incompatibleLockFile = Code.incompatibleLockFile
        /// No memory.
        public static let addressSpaceExhausted = Code.addressSpaceExhausted
        /// The disk is full.
        public static let outOfDiskSpace = Code.outOfDiskSpace
        /// Another process syncs the file.
        public static let incompatibleSession = Code.incompatibleSession
        /// The file is of an unknown format.
        public static let unsupportedFileFormatVersion = Code.unsupportedFileFormatVersion
        /// More than one process syncs the file.
        public static let multipleSyncAgents = Code.multipleSyncAgents
        /// A file could not be copied, moved or deleted.
        public static let fileOperationFailed = Code.fileOperationFailed
        /// The file's history does not go with the configuration.
        public static let incompatibleHistories = Code.incompatibleHistories
        /// The error of subscriptions that the server refused.
        static func refusedSubscriptions(_ reason: String) -> Realm.Error {
            Realm.Error(.subscriptionFailed, reason.isEmpty ? "the server refused the subscriptions" : reason)
        }
        /// A subscription failed.
        public static let subscriptionFailed = Code.subscriptionFailed
        /// A write outside of all subscriptions.
        public static let noSubscriptionForWrite = Code.noSubscriptionForWrite
        /// The file is not a realm, or is damaged.
        public static let invalidDatabase = Code.invalidDatabase
    }
}

/// Makes `catch Realm.Error.alreadyOpen` work.
public func ~= (pattern: Realm.Error.Code, error: any Error) -> Bool { (error as? Realm.Error)?.code == pattern }
