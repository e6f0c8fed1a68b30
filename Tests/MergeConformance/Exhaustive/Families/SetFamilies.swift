extension ExhaustiveFamily {
    private static let set = """
        table A int; table B int; column A/s int set; column A/m mixed set; column A/l link B set
        create A/1; create B/1; include A/1/s int(1); include A/1/s int(2); include A/1/m string(1)
        """

    static let sets = {
        var family = ExhaustiveFamily(
            "sets", "sets of integers, mixed values and links: insert, erase, both, and clear",
            [
                Start(
                    set,
                    """
                    include A/1/s int(3)
                    include A/1/s int(1#)
                    exclude A/1/s int(1)
                    exclude A/1/s int(2)
                    exclude A/1/s int(1); include A/1/s int(1)
                    include A/1/s int(3); exclude A/1/s int(3)
                    clear A/1/s
                    clear A/1/s; include A/1/s int(1)
                    include A/1/m int(1)
                    exclude A/1/m string(1)
                    include A/1/l link(B/1)
                    erase B/1
                    """)
            ])
        family.isOrderIndependent = true
        return family
    }()

    static let setPairs = ExhaustiveFamily(
        "set-pairs", "two clients, up to three operations each on one set", clients: 2,
        [
            Start(
                set,
                """
                include A/1/s int(1)
                include A/1/s int(3)
                exclude A/1/s int(1)
                exclude A/1/s int(3)
                clear A/1/s
                """
            ).sequences(upTo: 3)
        ])

    /// What no two peers of a stock client agree on.
    static let twins = {
        var family = ExhaustiveFamily(
            "twins", "sets of numbers that are equal but not the same: 1 and 1.0, 0.0 and -0.0, not a number",
            [
                Start(
                    """
                    table A int; column A/m mixed set; column A/d double set; create A/1
                    include A/1/m int(2); include A/1/d double(9)
                    """,
                    """
                    include A/1/m int(1)
                    include A/1/m double(1)
                    include A/1/m decimal(2)
                    include A/1/m decimal(3)
                    exclude A/1/m int(2)
                    exclude A/1/m double(2)
                    include A/1/d double(0)
                    include A/1/d double(8)
                    exclude A/1/d double(9)
                    exclude A/1/d double(9); include A/1/d double(9)
                    """)
            ])
        family.needsOwnPeers = true
        return family
    }()
}
