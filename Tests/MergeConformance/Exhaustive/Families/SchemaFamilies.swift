extension ExhaustiveFamily {
    /// The sides agree on what a name means, as clients of one app do.
    static let schemas = {
        var family = ExhaustiveFamily(
            "schema", "classes and fields that several clients add, the same or others, and use at once",
            [
                Start(
                    "table A int; create A/1",
                    """
                    table P int
                    table P int; create P/1
                    table P int; column P/n int?; create P/1; set P/1/n int(1#)
                    column A/n int?; set A/1/n int(1#)
                    column A/l int list; insert A/1/l/0 int(1#)
                    column A/s int set; include A/1/s int(1#)
                    column A/any mixed; set A/1/any list; insert A/1/any/0 int(1#)
                    table P int; column A/p link? P; create P/1; set A/1/p link(P/1)
                    embedded E; column E/v int; column A/e link? E; set A/1/e object; set A/1/e/v int(1#)
                    """)
            ])
        family.isOrderIndependent = true
        return family
    }()

    static let erasedSchemas = ExhaustiveFamily(
        "erased-schema", "classes and fields that are erased against everything done with them",
        [
            Start(
                """
                table A int; table P int; column P/n int?; column A/n int?; column A/l int list; column A/s int set
                create A/1; create P/1; insert A/1/l/0 int(1); include A/1/s int(1); set A/1/n int(1)
                """,
                """
                erase-table P
                erase-column P/n
                erase-column A/n
                erase-column A/l
                erase-column A/s
                set A/1/n int(1#)
                add A/1/n 1#
                insert A/1/l/0 int(1#)
                clear A/1/l
                include A/1/s int(1#)
                create P/2; set P/2/n int(1#)
                erase P/1
                column A/p link? P
                column A/n int?
                column P/m int?
                """)
        ])
}
