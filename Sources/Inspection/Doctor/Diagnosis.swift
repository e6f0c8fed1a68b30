/// The result of one of the doctor's checks.
package struct Diagnosis: Sendable, Equatable, Codable {
    package enum Level: String, Sendable, Codable, CaseIterable {
        case ok
        /// The check was not possible from here; the advice says what it needs. Does not count against the cluster.
        case unchecked
        /// The checked part works, but an operator should act.
        case warning
        /// A part that was checked does not work, or data may be lost.
        case fault
    }

    package enum Area: String, Sendable, Codable { case configuration, broker, store, clock, cluster }

    package var area: Area
    package var subject: String
    package var level: Level
    /// The finding of the check.
    package var finding: String
    /// The advice for an operator; nil if all is well.
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
    /// The result of checks that end with their first finding.
    package static func one(
        _ area: Diagnosis.Area, _ subject: String, _ level: Diagnosis.Level, _ finding: String, _ advice: String
    ) -> [Diagnosis] {
        [Diagnosis(area, subject, level, finding, advice)]
    }

    package mutating func add(
        _ area: Diagnosis.Area, _ subject: String, _ level: Diagnosis.Level, _ finding: String,
        _ advice: String? = nil
    ) {
        append(Diagnosis(area, subject, level, finding, advice))
    }

    /// 0 all well, 1 warnings, 2 faults.
    package var exitCode: Int32 {
        contains { $0.level == .fault } ? 2 : contains { $0.level == .warning } ? 1 : 0
    }
}
