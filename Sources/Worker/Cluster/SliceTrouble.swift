import Storage

/// Why a slice is not served at the moment, as `/ready` and the log say it.
struct SliceTrouble: Sendable, Equatable, CustomStringConvertible {
    /// What has to be mended.
    enum Cause: Sendable, Equatable {
        case store, broker
    }

    var cause: Cause
    var description: String

    init(_ cause: Cause, _ description: String) {
        self.cause = cause
        self.description = description
    }

    init(_ error: any Error) { self.init(error is StoreError ? .store : .broker, "\(error)") }
}
