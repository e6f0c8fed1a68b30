import Glibc

/// Returns the target that is fed: `FUZZ_TARGET`. libFuzzer has the main function, and all arguments are its own.
public func fuzzedTarget<Target: RawRepresentable & CaseIterable>() -> Target where Target.RawValue == String {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = Target(rawValue: name) else {
        let names = Target.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("FUZZ_TARGET: expected one of \(names), found '\(name)'")
    }
    return target
}

/// What an input may take. A trap is what the fuzzer notices, and keeps the input for.
public enum InputBudget {
    /// The processor time that an input may take: what else the machine does is not the input's fault.
    static let milliseconds = 1000
    static let bytes = 256 << 20

    /// Runs `body`, and traps if that takes more than one input may.
    public static func held(_ body: () -> Void) {
        let before = usage()
        body()
        let after = usage()
        let spent = after.milliseconds - before.milliseconds
        if spent > milliseconds { fatalError("broken law: an input takes \(spent) ms of processor time") }
        let grown = after.peakBytes - before.peakBytes
        if grown > bytes { fatalError("broken law: an input takes \(grown >> 20) MiB") }
    }

    private static func usage() -> (milliseconds: Int, peakBytes: Int) {
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        // Linux counts in KiB.
        return (seconds * 1000 + microseconds / 1000, usage.ru_maxrss * 1024)
    }
}
