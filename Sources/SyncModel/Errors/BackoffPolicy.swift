/// How a peer should space its retries; the `backoff…` triple of a JSON_ERROR, all three or none.
package struct BackoffPolicy: Hashable, Codable, Sendable {
    package var intervalSeconds: Int64
    package var maxDelaySeconds: Int64
    package var multiplier: Int64

    package init(intervalSeconds: Int64, maxDelaySeconds: Int64, multiplier: Int64) {
        self.intervalSeconds = intervalSeconds
        self.maxDelaySeconds = maxDelaySeconds
        self.multiplier = multiplier
    }

    /// 1, 2, 4 … 256, 300 seconds (docs/protocol.md, "Timers and backoff").
    package static let standard = BackoffPolicy(intervalSeconds: 1, maxDelaySeconds: 300, multiplier: 2)
}
