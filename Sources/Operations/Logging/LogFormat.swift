/// How log lines are written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object a line, for collectors.
    case json
    /// For people.
    case text
}
