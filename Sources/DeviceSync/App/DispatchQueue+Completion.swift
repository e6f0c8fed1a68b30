internal import Dispatch

extension DispatchQueue {
    /// Runs `body`, then calls `completion` with its result on this queue.
    /// - Returns: the task. A caller may drop it, since the callback is the way back.
    @discardableResult
    func complete<Value: Sendable>(
        _ completion: @Sendable @escaping (Result<Value, any Error>) -> Void,
        with body: @Sendable @escaping () async throws -> Value
    ) -> Task<Void, Never> {
        Task {
            let result: Result<Value, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            self.async { completion(result) }
        }
    }

    /// Runs `body`, then calls `completion` with its error on this queue; with nil for none.
    func complete(
        _ completion: @Sendable @escaping ((any Error)?) -> Void, with body: @Sendable @escaping () async throws -> Void
    ) {
        let answer: @Sendable (Result<Void, any Error>) -> Void = { result in
            if case .failure(let error) = result { completion(error) } else { completion(nil) }
        }
        complete(answer, with: body)
    }
}
