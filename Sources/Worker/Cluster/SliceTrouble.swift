import Storage
import SyncModel

/// Why a slice is not served at the moment, as `/ready` and the log say it.
struct SliceTrouble: Sendable, Equatable, CustomStringConvertible {
    /// The part that has to be mended.
    enum Cause: Sendable, Equatable {
        case store, broker
        /// An operator has to decide.
        case operation
    }

    var cause: Cause
    var description: String

    init(_ cause: Cause, _ description: String) {
        self.cause = cause
        self.description = description
    }

    init(_ hold: ResetHoldRecord) {
        self.init(
            .operation,
            """
            \(hold.asked) of \(hold.clientFiles.counted("client realm")) of app \(hold.app) would have to reset at once, and nobody has \
            terminated sync: they wait. See that the slice's store is the right one; then sluice resets allow \(hold.app)
            """)
    }

    init(_ error: any Error) { self.init(error is StoreError ? .store : .broker, "\(error)") }
}
