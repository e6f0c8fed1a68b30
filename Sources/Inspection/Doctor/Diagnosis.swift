/// One thing that the doctor looked at.
package struct Diagnosis: Sendable, Equatable, Codable {
    package enum Level: String, Sendable, Codable, CaseIterable {
        case ok
        /// It could not be looked at from here; what would be needed is said. Does not count against the cluster.
        case unchecked
        /// It works, and something should be done about it.
        case warning
        /// It does not work, or is about to lose something.
        case fault
    }

    package enum Area: String, Sendable, Codable { case configuration, broker, store, clock, cluster }

    package var area: Area
    package var subject: String
    package var level: Level
    /// What was found.
    package var finding: String
    /// What to do about it; nil if all is well.
    package var advice: String?

    package init(_ area: Area, _ subject: String, _ level: Level, _ finding: String, _ advice: String? = nil) {
        self.area = area
        self.subject = subject
        self.level = level
        self.finding = finding
        self.advice = advice
    }
}

extension [Diagnosis] {
    /// 0 all well, 1 warnings, 2 faults.
    package var exitCode: Int32 {
        contains { $0.level == .fault } ? 2 : contains { $0.level == .warning } ? 1 : 0
    }
}
