import Storage

extension SliceAgenda {
    /// Every app's latest generation in this slice, by app.
    func appGenerations() async throws(StoreError) -> [AppGenerationRecord] {
        try await appGenerations(after: nil, limit: .max)
    }
}
