/// What an attack may do to everybody else; beyond, the siege has found a hole.
enum Bounds {
    /// How many times as long as in the calm before the honest app's median change may take.
    static let medianRatio = 2.0
    /// The growth of the memory of a role's largest process that is allowed while an attack lasts, and what may be left
    /// of that once the attack is over, in MiB.
    static let memory: [String: (peak: Int, after: Int)] = [
        "gateway": (400, 200), "worker": (400, 200), "coordinator": (64, 48), "broker": (300, 200),
    ]
    /// The growth of the disk of each that is allowed with one attack, in MiB. The broker writes ahead, 64 MiB a file.
    static let disk = ["store": 256, "broker": 200]
}
