# Names for inspectors

agora--search_regulations = Zoeken in regelgeving
    .spoken = Ik ga de regelgeving doorzoeken

# Kept as it is
