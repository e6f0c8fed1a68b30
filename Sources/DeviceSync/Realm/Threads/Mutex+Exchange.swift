internal import Synchronization

extension Mutex where Value: Sendable {
    /// Puts a value in the place of the present one.
    /// - Returns: the latter.
    func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}
